/* Conversion states that libc keeps for callers that give none, per version. Each function has its own. */
#include "p3v_libc.h"
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>

/* What glibc's headers call for a checked destination. */
size_t __mbsrtowcs_chk(wchar_t *, const char **, size_t, mbstate_t *, size_t);
size_t __mbsnrtowcs_chk(wchar_t *, const char **, size_t, size_t, mbstate_t *, size_t);
size_t __wcsrtombs_chk(char *, const wchar_t **, size_t, mbstate_t *, size_t);
size_t __wcsnrtombs_chk(char *, const wchar_t **, size_t, size_t, mbstate_t *, size_t);
size_t __wcrtomb_chk(char *, wchar_t, mbstate_t *, size_t);
_Noreturn void __chk_fail(void);

/* Declared by headers for later C standards only. */
size_t mbrtoc8(unsigned char *, const char *, size_t, mbstate_t *);
size_t c8rtomb(char *, unsigned char, mbstate_t *);

static mbstate_t mbrtowc_state, mbsrtowcs_state, mbsnrtowcs_state, wcrtomb_state, wcsrtombs_state,
    wcsnrtombs_state;

static mbstate_t *state_or(mbstate_t *given, mbstate_t *hidden) {
  p3v_attend();
  return given ? given : hidden;
}

int SHIM(mbtowc)(wchar_t *to, const char *from, size_t size) {
  static mbstate_t state;
  p3v_attend();
  if (!from) {
    memset(&state, 0, sizeof state);
    return mbtowc(NULL, NULL, 0);
  }
  if (size == 0)
    return -1;
  size_t length = mbrtowc(to, from, size, &state);
  return (int)length < 0 ? -1 : (int)length;
}

int SHIM(wctomb)(char *to, wchar_t from) {
  static mbstate_t state;
  p3v_attend();
  if (!to) {
    memset(&state, 0, sizeof state);
    return wctomb(NULL, L'\0');
  }
  return (int)wcrtomb(to, from, &state);
}

int SHIM(__wctomb_chk)(char *to, wchar_t from, size_t room) {
  if (room < MB_CUR_MAX)
    __chk_fail();
  return SHIM(wctomb)(to, from);
}

size_t SHIM(mbrlen)(const char *from, size_t size, mbstate_t *state) {
  static mbstate_t hidden;
  return mbrtowc(NULL, from, size, state_or(state, &hidden));
}

size_t SHIM(__mbrlen)(const char *from, size_t size, mbstate_t *state) {
  return SHIM(mbrlen)(from, size, state);
}

size_t SHIM(mbrtowc)(wchar_t *to, const char *from, size_t size, mbstate_t *state) {
  return mbrtowc(to, from, size, state_or(state, &mbrtowc_state));
}

size_t SHIM(__mbrtowc)(wchar_t *to, const char *from, size_t size, mbstate_t *state) {
  return SHIM(mbrtowc)(to, from, size, state);
}

size_t SHIM(wcrtomb)(char *to, wchar_t from, mbstate_t *state) {
  return wcrtomb(to, from, state_or(state, &wcrtomb_state));
}

size_t SHIM(__wcrtomb_chk)(char *to, wchar_t from, mbstate_t *state, size_t room) {
  return __wcrtomb_chk(to, from, state_or(state, &wcrtomb_state), room);
}

size_t SHIM(mbsrtowcs)(wchar_t *to, const char **from, size_t size, mbstate_t *state) {
  return mbsrtowcs(to, from, size, state_or(state, &mbsrtowcs_state));
}

size_t SHIM(__mbsrtowcs_chk)(wchar_t *to, const char **from, size_t size, mbstate_t *state, size_t room) {
  return __mbsrtowcs_chk(to, from, size, state_or(state, &mbsrtowcs_state), room);
}

size_t SHIM(mbsnrtowcs)(wchar_t *to, const char **from, size_t bytes, size_t size, mbstate_t *state) {
  return mbsnrtowcs(to, from, bytes, size, state_or(state, &mbsnrtowcs_state));
}

size_t SHIM(__mbsnrtowcs_chk)(wchar_t *to, const char **from, size_t bytes, size_t size, mbstate_t *state,
                              size_t room) {
  return __mbsnrtowcs_chk(to, from, bytes, size, state_or(state, &mbsnrtowcs_state), room);
}

size_t SHIM(wcsrtombs)(char *to, const wchar_t **from, size_t size, mbstate_t *state) {
  return wcsrtombs(to, from, size, state_or(state, &wcsrtombs_state));
}

size_t SHIM(__wcsrtombs_chk)(char *to, const wchar_t **from, size_t size, mbstate_t *state, size_t room) {
  return __wcsrtombs_chk(to, from, size, state_or(state, &wcsrtombs_state), room);
}

size_t SHIM(wcsnrtombs)(char *to, const wchar_t **from, size_t characters, size_t size, mbstate_t *state) {
  return wcsnrtombs(to, from, characters, size, state_or(state, &wcsnrtombs_state));
}

size_t SHIM(__wcsnrtombs_chk)(char *to, const wchar_t **from, size_t characters, size_t size,
                              mbstate_t *state, size_t room) {
  return __wcsnrtombs_chk(to, from, characters, size, state_or(state, &wcsnrtombs_state), room);
}

size_t SHIM(mbrtoc16)(char16_t *to, const char *from, size_t size, mbstate_t *state) {
  static mbstate_t hidden;
  return mbrtoc16(to, from, size, state_or(state, &hidden));
}

size_t SHIM(c16rtomb)(char *to, char16_t from, mbstate_t *state) {
  static mbstate_t hidden;
  return c16rtomb(to, from, state_or(state, &hidden));
}

size_t SHIM(mbrtoc32)(char32_t *to, const char *from, size_t size, mbstate_t *state) {
  static mbstate_t hidden;
  return mbrtoc32(to, from, size, state_or(state, &hidden));
}

size_t SHIM(c32rtomb)(char *to, char32_t from, mbstate_t *state) {
  static mbstate_t hidden;
  return c32rtomb(to, from, state_or(state, &hidden));
}

size_t SHIM(mbrtoc8)(unsigned char *to, const char *from, size_t size, mbstate_t *state) {
  static mbstate_t hidden;
  return mbrtoc8(to, from, size, state_or(state, &hidden));
}

size_t SHIM(c8rtomb)(char *to, unsigned char from, mbstate_t *state) {
  static mbstate_t hidden;
  return c8rtomb(to, from, state_or(state, &hidden));
}
