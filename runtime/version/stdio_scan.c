/* Functions that take one character, input functions that mean stdin without saying so, and the names under which
 * C99's scanf is called. */
#include "p3v_libc.h"
#include "p3v_scanf.h"
#include "p3v_streams.h"
#include <stdlib.h>
#include <string.h>

#define TAKES(name, may)                                                                                     \
  P3V_IN_PLACE int SHIM(name)(FILE *file) {                                                                  \
    return p3v_has_byte(file) && may ? p3v_take_byte(file) : name(file);                                     \
  }

TAKES(getc_unlocked, true)
TAKES(fgetc_unlocked, true)
TAKES(getc, p3v_needs_no_lock())
TAKES(fgetc, p3v_needs_no_lock())

ALSO(int, _IO_getc, (FILE * file), getc, file)

P3V_IN_PLACE int SHIM(getchar)(void) { return SHIM(getc)(SHIM(stdin)); }

P3V_IN_PLACE int SHIM(getchar_unlocked)(void) { return SHIM(getc_unlocked)(SHIM(stdin)); }

/* At most `size` bytes with the terminator; `*fits` tells whether that was enough. */
static char *read_line(char *line, size_t size, bool *fits) {
  FILE *file = SHIM(stdin);
  size_t length = 0;
  int character;
  *fits = true;
  while ((character = getc(file)) != EOF && character != '\n') {
    if (length + 1 >= size) {
      *fits = false;
      return NULL;
    }
    line[length++] = character;
  }
  if (character == EOF && (length == 0 || ferror(file)))
    return NULL;
  line[length] = '\0';
  return line;
}

char *SHIM(gets)(char *line) {
  bool fits;
  return read_line(line, (size_t)-1, &fits);
}

void SHIM(__chk_fail)(void);

char *SHIM(__gets_chk)(char *line, size_t size) {
  bool fits;
  char *result = read_line(line, size, &fits);
  if (!fits)
    SHIM(__chk_fail)();
  return result;
}

#define SCANNED(call)                                                                                        \
  va_list arguments;                                                                                         \
  va_start(arguments, format);                                                                               \
  int count = call;                                                                                          \
  va_end(arguments);                                                                                         \
  return count

int SHIM(vfscanf)(FILE *file, const char *format, va_list arguments) {
  p3v_attend();
  return p3v_plain_vfscanf(file, format, arguments);
}

int SHIM(fscanf)(FILE *file, const char *format, ...) { SCANNED(SHIM(vfscanf)(file, format, arguments)); }

int SHIM(vscanf)(const char *format, va_list arguments) {
  return SHIM(vfscanf)(SHIM(stdin), format, arguments);
}

int SHIM(scanf)(const char *format, ...) { SCANNED(SHIM(vfscanf)(SHIM(stdin), format, arguments)); }

int SHIM(vsscanf)(const char *text, const char *format, va_list arguments) {
  p3v_attend();
  return p3v_plain_vsscanf(text, format, arguments);
}

int SHIM(sscanf)(const char *text, const char *format, ...) {
  SCANNED(SHIM(vsscanf)(text, format, arguments));
}

/* uclibc has one scanf only, which is C99's. */
int SHIM(__isoc99_vfscanf)(FILE *file, const char *format, va_list arguments) {
  p3v_attend();
  return p3v_klee ? p3v_plain_vfscanf(file, format, arguments) : __isoc99_vfscanf(file, format, arguments);
}

int SHIM(__isoc99_vsscanf)(const char *text, const char *format, va_list arguments) {
  p3v_attend();
  return p3v_klee ? p3v_plain_vsscanf(text, format, arguments) : __isoc99_vsscanf(text, format, arguments);
}

int SHIM(__isoc99_vscanf)(const char *format, va_list arguments) {
  return SHIM(__isoc99_vfscanf)(SHIM(stdin), format, arguments);
}

int SHIM(__isoc99_scanf)(const char *format, ...) {
  SCANNED(SHIM(__isoc99_vfscanf)(SHIM(stdin), format, arguments));
}

int SHIM(__isoc99_fscanf)(FILE *file, const char *format, ...) {
  SCANNED(SHIM(__isoc99_vfscanf)(file, format, arguments));
}

int SHIM(__isoc99_sscanf)(const char *text, const char *format, ...) {
  SCANNED(SHIM(__isoc99_vsscanf)(text, format, arguments));
}
