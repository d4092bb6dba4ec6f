/* Wide characters on the runtime's cookie FILEs.
 *
 * glibc's cookie FILEs take bytes only. So the wide functions convert here, by the version's locale, and use
 * the byte functions; each FILE's orientation is kept beside it. Every other FILE is left to libc. Formatted
 * input is scanned by libc in a temporary file that gets the lines one by one until they suffice; what the
 * scan did not want is pushed back. */
#include "p3v_libc.h"
#include "p3v_scanf.h"
#include "p3v_streams.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

int __vfwprintf_chk(FILE *file, int flag, const wchar_t *format, va_list arguments);
wchar_t *__fgetws_chk(wchar_t *text, size_t room, int size, FILE *file);
wchar_t *__fgetws_unlocked_chk(wchar_t *text, size_t room, int size, FILE *file);
void SHIM(__chk_fail)(void);

/* libc's names for bits of FILE._flags; part of its binary interface. */
#define ERROR_SEEN 0x20
#define PUTTING 0x800

bool p3v_any_wide;

/* Byte functions do not say that they were called; the FILE's state does. */
static bool has_moved(FILE *file) {
  return file->_flags & PUTTING || file->_IO_read_end != file->_IO_read_base || feof(file);
}

static int orient(FILE *file, int *orientation, int wanted) {
  if (!*orientation && has_moved(file))
    *orientation = -1;
  if (!*orientation && wanted)
    *orientation = wanted > 0 ? 1 : -1;
  p3v_any_wide |= *orientation > 0;
  return *orientation;
}

bool p3v_is_wide(FILE *file) {
  int *orientation = p3v_orientation(file);
  return orientation && *orientation > 0;
}

int SHIM(fwide)(FILE *file, int wanted) {
  int *orientation = p3v_orientation(file);
  return orientation ? orient(file, orientation, wanted) : fwide(file, wanted);
}

/* Whether the FILE is libc's own affair. */
static bool is_libcs(FILE *file) { return !p3v_orientation(file); }

static bool take_wide(FILE *file) { return orient(file, p3v_orientation(file), 1) > 0; }

/* ---- output ---- */

static wint_t put_wide(wchar_t character, FILE *file) {
  char bytes[MB_LEN_MAX];
  mbstate_t state = {0};
  p3v_attend();
  size_t size = wcrtomb(bytes, character, &state);
  if (size == (size_t)-1) {
    file->_flags |= ERROR_SEEN;
    return WEOF;
  }
  return fwrite(bytes, 1, size, file) == size ? (wint_t)character : WEOF;
}

wint_t SHIM(fputwc)(wchar_t character, FILE *file) {
  if (is_libcs(file))
    return fputwc(character, file);
  return take_wide(file) ? put_wide(character, file) : WEOF;
}

ALSO(wint_t, putwc, (wchar_t character, FILE *file), fputwc, character, file)
ALSO(wint_t, fputwc_unlocked, (wchar_t character, FILE *file), fputwc, character, file)
ALSO(wint_t, putwc_unlocked, (wchar_t character, FILE *file), fputwc, character, file)
ALSO(wint_t, putwchar, (wchar_t character), fputwc, character, SHIM(stdout))
ALSO(wint_t, putwchar_unlocked, (wchar_t character), fputwc, character, SHIM(stdout))

static int put_text(const wchar_t *text, size_t length, FILE *file) {
  for (size_t i = 0; i < length; i++)
    if (put_wide(text[i], file) == WEOF)
      return EOF;
  return 1;
}

int SHIM(fputws)(const wchar_t *text, FILE *file) {
  if (is_libcs(file))
    return fputws(text, file);
  return take_wide(file) ? put_text(text, wcslen(text), file) : EOF;
}

ALSO(int, fputws_unlocked, (const wchar_t *text, FILE *file), fputws, text, file)

/* flag: as of the checked functions, -1: not one of them. */
static int print(FILE *file, int flag, const wchar_t *format, va_list arguments) {
  p3v_attend();
  if (is_libcs(file))
    return flag < 0 ? vfwprintf(file, format, arguments) : __vfwprintf_chk(file, flag, format, arguments);
  if (!take_wide(file))
    return -1;
  wchar_t *text = NULL;
  size_t length = 0;
  FILE *memory = open_wmemstream(&text, &length);
  if (!memory)
    return -1;
  int result =
      flag < 0 ? vfwprintf(memory, format, arguments) : __vfwprintf_chk(memory, flag, format, arguments);
  int error = errno;
  fclose(memory);
  errno = error;
  if (put_text(text, length, file) == EOF)
    result = -1;
  error = errno;
  free(text);
  errno = error;
  return result;
}

#define FORMATTED(call)                                                                                      \
  va_list arguments;                                                                                         \
  va_start(arguments, format);                                                                               \
  int result = call;                                                                                         \
  va_end(arguments);                                                                                         \
  return result

int SHIM(vfwprintf)(FILE *file, const wchar_t *format, va_list arguments) {
  return print(file, -1, format, arguments);
}

int SHIM(vwprintf)(const wchar_t *format, va_list arguments) {
  return print(SHIM(stdout), -1, format, arguments);
}

int SHIM(fwprintf)(FILE *file, const wchar_t *format, ...) { FORMATTED(print(file, -1, format, arguments)); }

int SHIM(wprintf)(const wchar_t *format, ...) { FORMATTED(print(SHIM(stdout), -1, format, arguments)); }

int SHIM(__vfwprintf_chk)(FILE *file, int flag, const wchar_t *format, va_list arguments) {
  return print(file, flag, format, arguments);
}

int SHIM(__vwprintf_chk)(int flag, const wchar_t *format, va_list arguments) {
  return print(SHIM(stdout), flag, format, arguments);
}

int SHIM(__fwprintf_chk)(FILE *file, int flag, const wchar_t *format, ...) {
  FORMATTED(print(file, flag, format, arguments));
}

int SHIM(__wprintf_chk)(int flag, const wchar_t *format, ...) {
  FORMATTED(print(SHIM(stdout), flag, format, arguments));
}

/* ---- input ---- */

static wint_t get_wide(FILE *file) {
  mbstate_t state = {0};
  wchar_t character;
  p3v_attend();
  for (int got = 0;; got++) {
    int byte = getc(file);
    if (byte == EOF) {
      if (!got)
        return WEOF;
      errno = EILSEQ;
      break;
    }
    char one = byte;
    size_t size = mbrtowc(&character, &one, 1, &state);
    if (size == (size_t)-1)
      break;
    if (size != (size_t)-2)
      return character;
  }
  file->_flags |= ERROR_SEEN;
  return WEOF;
}

wint_t SHIM(fgetwc)(FILE *file) {
  if (is_libcs(file))
    return fgetwc(file);
  return take_wide(file) ? get_wide(file) : WEOF;
}

ALSO(wint_t, getwc, (FILE * file), fgetwc, file)
ALSO(wint_t, fgetwc_unlocked, (FILE * file), fgetwc, file)
ALSO(wint_t, getwc_unlocked, (FILE * file), fgetwc, file)
ALSO(wint_t, getwchar, (void), fgetwc, SHIM(stdin))
ALSO(wint_t, getwchar_unlocked, (void), fgetwc, SHIM(stdin))

wint_t SHIM(ungetwc)(wint_t character, FILE *file) {
  if (is_libcs(file))
    return ungetwc(character, file);
  char bytes[MB_LEN_MAX];
  mbstate_t state = {0};
  if (character == WEOF || !take_wide(file))
    return WEOF;
  p3v_attend();
  size_t size = wcrtomb(bytes, character, &state);
  if (size == (size_t)-1)
    return WEOF;
  while (size)
    if (ungetc((unsigned char)bytes[--size], file) == EOF)
      return WEOF;
  return character;
}

wchar_t *SHIM(fgetws)(wchar_t *text, int size, FILE *file) {
  if (is_libcs(file))
    return fgetws(text, size, file);
  if (size <= 0 || !take_wide(file))
    return NULL;
  int length = 0;
  while (length + 1 < size) {
    wint_t character = get_wide(file);
    if (character == WEOF) {
      if (!length || ferror(file))
        return NULL;
      break;
    }
    text[length++] = character;
    if (character == L'\n')
      break;
  }
  text[length] = L'\0';
  return text;
}

ALSO(wchar_t *, fgetws_unlocked, (wchar_t * text, int size, FILE *file), fgetws, text, size, file)

wchar_t *SHIM(__fgetws_chk)(wchar_t *text, size_t room, int size, FILE *file) {
  if (size > 0 && (size_t)size > room)
    SHIM(__chk_fail)();
  return SHIM(fgetws)(text, size, file);
}

ALSO(wchar_t *, __fgetws_unlocked_chk, (wchar_t * text, size_t room, int size, FILE *file), __fgetws_chk,
     text, room, size, file)

/* Appends the next line of `file` to the temporary file; false: there is none. */
static bool fetch_line(FILE *file, int temporary, char **bytes, size_t *length) {
  char *line = NULL;
  size_t room = 0;
  ssize_t size = getline(&line, &room, file);
  char *more = size > 0 ? realloc(*bytes, *length + size) : NULL;
  if (more) {
    memcpy(more + *length, line, size);
    *bytes = more;
    *length += size;
    size = pwrite(temporary, line, size, *length - size);
  }
  free(line);
  return more && size > 0;
}

static int scan_memory(int temporary, bool c99, const wchar_t *format, va_list arguments, bool *hungry,
                       size_t *used) {
  lseek(temporary, 0, SEEK_SET);
  FILE *memory = fdopen(dup(temporary), "r");
  if (!memory)
    return EOF;
  va_list again;
  va_copy(again, arguments);
  int count = c99 ? __isoc99_vfwscanf(memory, format, again) : p3v_plain_vfwscanf(memory, format, again);
  va_end(again);
  *hungry = feof(memory);
  long at = ftell(memory);
  *used = at > 0 ? at : 0;
  fclose(memory);
  return count;
}

static int scan(FILE *file, bool c99, const wchar_t *format, va_list arguments) {
  p3v_attend();
  if (is_libcs(file))
    return c99 && !p3v_klee ? __isoc99_vfwscanf(file, format, arguments)
                            : p3v_plain_vfwscanf(file, format, arguments);
  if (!take_wide(file))
    return EOF;
  int temporary = memfd_create("p3", MFD_CLOEXEC);
  char *bytes = NULL;
  size_t length = 0, used = 0;
  bool hungry = true;
  int count;
  do {
    bool more = fetch_line(file, temporary, &bytes, &length);
    count = scan_memory(temporary, c99, format, arguments, &hungry, &used);
    if (!more)
      break;
  } while (hungry);
  while (length > used)
    ungetc((unsigned char)bytes[--length], file);
  int error = errno;
  free(bytes);
  close(temporary);
  errno = error;
  return count;
}

int SHIM(vfwscanf)(FILE *file, const wchar_t *format, va_list arguments) {
  return scan(file, false, format, arguments);
}

int SHIM(vwscanf)(const wchar_t *format, va_list arguments) {
  return scan(SHIM(stdin), false, format, arguments);
}

int SHIM(fwscanf)(FILE *file, const wchar_t *format, ...) { FORMATTED(scan(file, false, format, arguments)); }

int SHIM(wscanf)(const wchar_t *format, ...) { FORMATTED(scan(SHIM(stdin), false, format, arguments)); }

int SHIM(__isoc99_vfwscanf)(FILE *file, const wchar_t *format, va_list arguments) {
  return scan(file, true, format, arguments);
}

int SHIM(__isoc99_vwscanf)(const wchar_t *format, va_list arguments) {
  return scan(SHIM(stdin), true, format, arguments);
}

int SHIM(__isoc99_fwscanf)(FILE *file, const wchar_t *format, ...) {
  FORMATTED(scan(file, true, format, arguments));
}

int SHIM(__isoc99_wscanf)(const wchar_t *format, ...) {
  FORMATTED(scan(SHIM(stdin), true, format, arguments));
}
