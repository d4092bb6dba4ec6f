/* Functions of libc whose results depend on the thread's locale, for products in which a version may change
 * its own: that one is installed before libc is called. Those with hidden state (multibyte.c and others) and
 * those of FILEs (stdio_*.c) do it by themselves; <ctype.h> needs no libc (ctype.c). */
#include "p3v_locale.h"
#include "p3v_scanf.h"
#include <fnmatch.h>
#include <iconv.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

/* What glibc's headers call for checked buffers. */
size_t __mbstowcs_chk(wchar_t *, const char *, size_t, size_t);
size_t __wcstombs_chk(char *, const wchar_t *, size_t, size_t);
int __vsprintf_chk(char *, int, size_t, const char *, va_list);
int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);
int __vasprintf_chk(char **, int, const char *, va_list);
int __vswprintf_chk(wchar_t *, size_t, int, size_t, const wchar_t *, va_list);

/* TYPE NAME PARAMETERS calls libc's NAME with the given arguments. */
#define CALL(type, name, parameters, ...)                                                                    \
  type LOCALE_SHIM(name) parameters {                                                                        \
    p3v_attend();                                                                                            \
    return name(__VA_ARGS__);                                                                                \
  }
/* A variadic NAME is CALLED, which takes a list. */
#define LIST(name, called, parameters, ...)                                                                  \
  int LOCALE_SHIM(name) parameters {                                                                         \
    va_list args;                                                                                            \
    va_start(args, format);                                                                                  \
    int result = LOCALE_SHIM(called)(__VA_ARGS__);                                                           \
    va_end(args);                                                                                            \
    return result;                                                                                           \
  }

size_t LOCALE_SHIM(__ctype_get_mb_cur_max)(void) {
  p3v_attend();
  return MB_CUR_MAX;
}

CALL(int, strcasecmp, (const char *a, const char *b), a, b)
CALL(int, strncasecmp, (const char *a, const char *b, size_t size), a, b, size)
CALL(char *, strcasestr, (const char *text, const char *part), text, part)
CALL(int, strcoll, (const char *a, const char *b), a, b)
CALL(size_t, strxfrm, (char *to, const char *from, size_t size), to, from, size)
CALL(double, strtod, (const char *text, char **end), text, end)
CALL(float, strtof, (const char *text, char **end), text, end)
CALL(long double, strtold, (const char *text, char **end), text, end)
CALL(double, atof, (const char *text), text)
CALL(char *, gcvt, (double value, int digits, char *text), value, digits, text)

CALL(int, mblen, (const char *text, size_t size), text, size)
CALL(size_t, mbstowcs, (wchar_t * to, const char *from, size_t size), to, from, size)
CALL(size_t, __mbstowcs_chk, (wchar_t * to, const char *from, size_t size, size_t room), to, from, size, room)
CALL(size_t, wcstombs, (char *to, const wchar_t *from, size_t size), to, from, size)
CALL(size_t, __wcstombs_chk, (char *to, const wchar_t *from, size_t size, size_t room), to, from, size, room)

/* In every locale that glibc has ASCII is what it is; its own btowc knows that, too. */
static __attribute__((noinline)) wint_t widen(int c) {
  p3v_attend();
  return btowc(c);
}

__attribute__((always_inline)) wint_t LOCALE_SHIM(btowc)(int c) {
  return c >= 0 && c < 0x80 ? (wint_t)c : widen(c);
}

CALL(int, wctob, (wint_t c), c)

CALL(int, iswalnum, (wint_t c), c)
CALL(int, iswalpha, (wint_t c), c)
CALL(int, iswblank, (wint_t c), c)
CALL(int, iswcntrl, (wint_t c), c)
CALL(int, iswdigit, (wint_t c), c)
CALL(int, iswgraph, (wint_t c), c)
CALL(int, iswlower, (wint_t c), c)
CALL(int, iswprint, (wint_t c), c)
CALL(int, iswpunct, (wint_t c), c)
CALL(int, iswspace, (wint_t c), c)
CALL(int, iswupper, (wint_t c), c)
CALL(int, iswxdigit, (wint_t c), c)
CALL(wctype_t, wctype, (const char *name), name)
CALL(int, iswctype, (wint_t c, wctype_t type), c, type)
CALL(wint_t, towlower, (wint_t c), c)
CALL(wint_t, towupper, (wint_t c), c)
CALL(wctrans_t, wctrans, (const char *name), name)
CALL(wint_t, towctrans, (wint_t c, wctrans_t mapping), c, mapping)
CALL(int, wcwidth, (wchar_t c), c)
CALL(int, wcswidth, (const wchar_t *text, size_t size), text, size)
CALL(int, wcscasecmp, (const wchar_t *a, const wchar_t *b), a, b)
CALL(int, wcsncasecmp, (const wchar_t *a, const wchar_t *b, size_t size), a, b, size)
CALL(int, wcscoll, (const wchar_t *a, const wchar_t *b), a, b)
CALL(size_t, wcsxfrm, (wchar_t * to, const wchar_t *from, size_t size), to, from, size)
CALL(double, wcstod, (const wchar_t *text, wchar_t **end), text, end)
CALL(float, wcstof, (const wchar_t *text, wchar_t **end), text, end)
CALL(long double, wcstold, (const wchar_t *text, wchar_t **end), text, end)

CALL(int, regcomp, (regex_t * regex, const char *pattern, int flags), regex, pattern, flags)
CALL(int, regexec, (const regex_t *regex, const char *text, size_t count, regmatch_t *matches, int flags),
     regex, text, count, matches, flags)
CALL(regoff_t, re_search,
     (struct re_pattern_buffer * buffer, const char *text, regoff_t length, regoff_t start, regoff_t range,
      struct re_registers *registers),
     buffer, text, length, start, range, registers)
CALL(regoff_t, re_match,
     (struct re_pattern_buffer * buffer, const char *text, regoff_t length, regoff_t start,
      struct re_registers *registers),
     buffer, text, length, start, registers)
CALL(int, fnmatch, (const char *pattern, const char *text, int flags), pattern, text, flags)
CALL(int, rpmatch, (const char *answer), answer)
CALL(iconv_t, iconv_open, (const char *to, const char *from), to, from)

CALL(int, vsprintf, (char *text, const char *format, va_list args), text, format, args)
CALL(int, vsnprintf, (char *text, size_t size, const char *format, va_list args), text, size, format, args)
CALL(int, vasprintf, (char **text, const char *format, va_list args), text, format, args)
CALL(int, vswprintf, (wchar_t * text, size_t size, const wchar_t *format, va_list args), text, size, format,
     args)

int LOCALE_SHIM(vswscanf)(const wchar_t *text, const wchar_t *format, va_list args) {
  p3v_attend();
  return p3v_plain_vswscanf(text, format, args);
}

int LOCALE_SHIM(__isoc99_vswscanf)(const wchar_t *text, const wchar_t *format, va_list args) {
  p3v_attend();
  return p3_in_klee() ? p3v_plain_vswscanf(text, format, args) : __isoc99_vswscanf(text, format, args);
}

/* klee-uclibc has no checked forms. */
int LOCALE_SHIM(__vsprintf_chk)(char *text, int flag, size_t room, const char *format, va_list args) {
  p3v_attend();
  return p3_in_klee() ? vsprintf(text, format, args) : __vsprintf_chk(text, flag, room, format, args);
}

int LOCALE_SHIM(__vsnprintf_chk)(char *text, size_t size, int flag, size_t room, const char *format,
                                 va_list args) {
  p3v_attend();
  return p3_in_klee() ? vsnprintf(text, size, format, args)
                      : __vsnprintf_chk(text, size, flag, room, format, args);
}

int LOCALE_SHIM(__vasprintf_chk)(char **text, int flag, const char *format, va_list args) {
  p3v_attend();
  return p3_in_klee() ? vasprintf(text, format, args) : __vasprintf_chk(text, flag, format, args);
}

int LOCALE_SHIM(__vswprintf_chk)(wchar_t *text, size_t size, int flag, size_t room, const wchar_t *format,
                                 va_list args) {
  p3v_attend();
  return p3_in_klee() ? vswprintf(text, size, format, args)
                      : __vswprintf_chk(text, size, flag, room, format, args);
}

LIST(sprintf, vsprintf, (char *text, const char *format, ...), text, format, args)
LIST(snprintf, vsnprintf, (char *text, size_t size, const char *format, ...), text, size, format, args)
LIST(asprintf, vasprintf, (char **text, const char *format, ...), text, format, args)
LIST(__asprintf, vasprintf, (char **text, const char *format, ...), text, format, args)
LIST(swprintf, vswprintf, (wchar_t * text, size_t size, const wchar_t *format, ...), text, size, format, args)
LIST(swscanf, vswscanf, (const wchar_t *text, const wchar_t *format, ...), text, format, args)
LIST(__isoc99_swscanf, __isoc99_vswscanf, (const wchar_t *text, const wchar_t *format, ...), text, format,
     args)
LIST(__sprintf_chk, __vsprintf_chk, (char *text, int flag, size_t room, const char *format, ...), text, flag,
     room, format, args)
LIST(__snprintf_chk, __vsnprintf_chk,
     (char *text, size_t size, int flag, size_t room, const char *format, ...), text, size, flag, room,
     format, args)
LIST(__asprintf_chk, __vasprintf_chk, (char **text, int flag, const char *format, ...), text, flag, format,
     args)
LIST(__swprintf_chk, __vswprintf_chk,
     (wchar_t * text, size_t size, int flag, size_t room, const wchar_t *format, ...), text, size, flag, room,
     format, args)
