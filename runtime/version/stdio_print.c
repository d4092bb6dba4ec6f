/* Output to standard streams: functions that mean stdout or stderr without saying so, and, for KLEE, those
 * that name a FILE, since there what they wrote must leave the buffer before it is full. */
#include "p3v_libc.h"
#include "p3v_streams.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int __vfprintf_chk(FILE *file, int flag, const char *format, va_list arguments);
int __vdprintf_chk(int fd, int flag, const char *format, va_list arguments);
int __vasprintf_chk(char **result, int flag, const char *format, va_list arguments);
int __overflow(FILE *file, int character);

char *SHIM(strsignal)(int number);

/* A stream that the program has made a wide one takes no bytes. */
#define REFUSE_WIDE(file, result)                                                                            \
  if (p3v_any_wide && p3v_is_wide(file))                                                                     \
  return result

static __attribute__((noinline)) int slow_vfprintf(FILE *file, const char *format, va_list arguments) {
  REFUSE_WIDE(file, -1);
  p3v_attend();
  int length = vfprintf(file, format, arguments);
  p3v_wrote(file);
  return length;
}

int SHIM(vfprintf)(FILE *file, const char *format, va_list arguments) {
  if (p3v_klee) {
    va_list copy;
    va_copy(copy, arguments);
    int length = p3_memory_print(p3v_index, file, format, copy);
    va_end(copy);
    if (length >= 0)
      return length;
  }
  return slow_vfprintf(file, format, arguments);
}

ALSO(int, _IO_vfprintf, (FILE * file, const char *format, va_list arguments), vfprintf, file, format,
     arguments)

int SHIM(vprintf)(const char *format, va_list arguments) {
  return SHIM(vfprintf)(SHIM(stdout), format, arguments);
}

#define FORMATTED(call)                                                                                      \
  va_list arguments;                                                                                         \
  va_start(arguments, format);                                                                               \
  int length = call;                                                                                         \
  va_end(arguments);                                                                                         \
  return length

/* In KLEE to begin once more is cheaper than to copy the list of arguments. */
#define PRINTED(stream, slow)                                                                                \
  FILE *file = stream;                                                                                       \
  va_list arguments;                                                                                         \
  va_start(arguments, format);                                                                               \
  int length = p3_memory_print(p3v_index, file, format, arguments);                                          \
  va_end(arguments);                                                                                         \
  if (length < 0) {                                                                                          \
    va_start(arguments, format);                                                                             \
    length = slow;                                                                                           \
    va_end(arguments);                                                                                       \
  }                                                                                                          \
  return length

int SHIM(fprintf)(FILE *to, const char *format, ...) { PRINTED(to, slow_vfprintf(file, format, arguments)); }

int SHIM(_IO_fprintf)(FILE *to, const char *format, ...) { PRINTED(to, slow_vfprintf(file, format, arguments)); }

int SHIM(printf)(const char *format, ...) { PRINTED(SHIM(stdout), slow_vfprintf(file, format, arguments)); }

int SHIM(_IO_printf)(const char *format, ...) { PRINTED(SHIM(stdout), slow_vfprintf(file, format, arguments)); }

int SHIM(__vfprintf_chk)(FILE *file, int flag, const char *format, va_list arguments) {
  if (p3v_klee)
    return SHIM(vfprintf)(file, format, arguments);
  REFUSE_WIDE(file, -1);
  p3v_attend();
  return __vfprintf_chk(file, flag, format, arguments);
}

int SHIM(__vprintf_chk)(int flag, const char *format, va_list arguments) {
  return SHIM(__vfprintf_chk)(SHIM(stdout), flag, format, arguments);
}

int SHIM(__fprintf_chk)(FILE *to, int flag, const char *format, ...) {
  PRINTED(to, SHIM(__vfprintf_chk)(file, flag, format, arguments));
}

int SHIM(__printf_chk)(int flag, const char *format, ...) {
  PRINTED(SHIM(stdout), SHIM(__vfprintf_chk)(file, flag, format, arguments));
}

/* ---- to descriptors ---- */

static int write_all(int fd, char *text, int length) {
  for (int done = 0; done < length;) {
    ssize_t more = p3_fd_write(p3v_index, fd, text + done, length - done);
    if (more < 0) {
      length = -1;
      break;
    }
    done += more;
  }
  int error = errno;
  free(text);
  errno = error;
  return length;
}

int SHIM(vdprintf)(int fd, const char *format, va_list arguments) {
  p3v_attend();
  if (!p3v_klee && !p3_fd_is_captured(p3v_index, fd) && !p3_fd_is_logged(p3v_index, fd))
    return vdprintf(REAL(fd), format, arguments);
  char *text;
  int length = vasprintf(&text, format, arguments);
  return length < 0 ? length : write_all(fd, text, length);
}

int SHIM(dprintf)(int fd, const char *format, ...) { FORMATTED(SHIM(vdprintf)(fd, format, arguments)); }

int SHIM(__vdprintf_chk)(int fd, int flag, const char *format, va_list arguments) {
  if (p3v_klee)
    return SHIM(vdprintf)(fd, format, arguments);
  p3v_attend();
  if (!p3_fd_is_captured(p3v_index, fd) && !p3_fd_is_logged(p3v_index, fd))
    return __vdprintf_chk(REAL(fd), flag, format, arguments);
  char *text;
  int length = __vasprintf_chk(&text, flag, format, arguments);
  return length < 0 ? length : write_all(fd, text, length);
}

int SHIM(__dprintf_chk)(int fd, int flag, const char *format, ...) {
  FORMATTED(SHIM(__vdprintf_chk)(fd, flag, format, arguments));
}

/* ---- characters, strings, blocks ---- */

static bool put_character(int character, FILE *file, int *result) {
  *result = (unsigned char)character;
  return p3_memory_put(p3v_index, file, (char)character);
}

/* uclibc's result, not glibc's. */
static bool put_string(const char *text, FILE *file, int *result) {
  if (!p3v_klee)
    return false;
  size_t length = strlen(text);
  *result = (int)length;
  return p3_memory_write(p3v_index, file, text, length);
}

#define WRITES_AS(declared, name, type, put)                                                                 \
  declared(type what, FILE *file) {                                                                          \
    int result;                                                                                              \
    if (put(what, file, &result))                                                                            \
      return result;                                                                                         \
    REFUSE_WIDE(file, EOF);                                                                                  \
    result = name(what, file);                                                                               \
    p3v_wrote(file);                                                                                         \
    return result;                                                                                           \
  }

#define WRITES(name, type, put) WRITES_AS(int SHIM(name), name, type, put)

/* `slow` is the whole function; in place there is only what is usual. */
#define PUTS(name, may)                                                                                      \
  WRITES_AS(static __attribute__((noinline)) int slow_##name, name, int, put_character)                      \
  P3V_IN_PLACE int SHIM(name)(int character, FILE *file) {                                                   \
    if (!p3v_klee)                                                                                           \
      if (p3v_has_room(file) && !p3v_any_wide && may)                                                        \
        return p3v_put_byte(file, character);                                                                \
    return slow_##name(character, file);                                                                     \
  }

PUTS(fputc, p3v_needs_no_lock())
PUTS(putc, p3v_needs_no_lock())
PUTS(fputc_unlocked, true)
PUTS(putc_unlocked, true)
WRITES(fputs, const char *, put_string)
WRITES(fputs_unlocked, const char *, put_string)

int SHIM(putw)(int word, FILE *file) {
  REFUSE_WIDE(file, EOF);
  int result = putw(word, file);
  p3v_wrote(file);
  return result;
}

ALSO(int, _IO_putc, (int character, FILE *file), putc, character, file)
ALSO(int, _IO_fputs, (const char *text, FILE *file), fputs, text, file)

/* In KLEE a block larger than the buffer would go to the descriptor. */
static size_t write_pieces(const char *bytes, size_t size, size_t count, FILE *file) {
  size_t total = size * count, done = 0;
  if (p3_memory_write(p3v_index, file, bytes, total))
    return size ? count : 0;
  REFUSE_WIDE(file, 0);
  while (done < total) {
    size_t piece = total - done < 4096 ? total - done : 4096;
    size_t written = fwrite(bytes + done, 1, piece, file);
    p3v_wrote(file);
    done += written;
    if (written < piece)
      break;
  }
  return size ? done / size : 0;
}

size_t SHIM(fwrite)(const void *bytes, size_t size, size_t count, FILE *file) {
  if (p3v_klee)
    return write_pieces(bytes, size, count, file);
  REFUSE_WIDE(file, 0);
  return fwrite(bytes, size, count, file);
}

size_t SHIM(fwrite_unlocked)(const void *bytes, size_t size, size_t count, FILE *file) {
  if (p3v_klee)
    return write_pieces(bytes, size, count, file);
  REFUSE_WIDE(file, 0);
  return fwrite_unlocked(bytes, size, count, file);
}

ALSO(size_t, _IO_fwrite, (const void *bytes, size_t size, size_t count, FILE *file), fwrite, bytes, size,
     count, file)

P3V_IN_PLACE int SHIM(putchar)(int character) { return SHIM(putc)(character, SHIM(stdout)); }

P3V_IN_PLACE int SHIM(putchar_unlocked)(int character) { return SHIM(putc_unlocked)(character, SHIM(stdout)); }

/* As glibc's: the text and its newline are one operation on the FILE. */
int SHIM(puts)(const char *text) {
  FILE *file = SHIM(stdout);
  size_t length = strlen(text);
  if (p3v_klee && p3_memory_write(p3v_index, file, text, length) && p3_memory_put(p3v_index, file, '\n'))
    return (int)length + 1;
  if (!p3v_klee)
    flockfile(file);
  int result =
      SHIM(fwrite_unlocked)(text, 1, length, file) == length && SHIM(putc_unlocked)('\n', file) != EOF
          ? (length < 0x7fffffff ? (int)length + 1 : 0x7fffffff)
          : EOF;
  if (!p3v_klee)
    funlockfile(file);
  return result;
}

ALSO(int, _IO_puts, (const char *text), puts, text)

/* ---- messages ---- */

static void message(const char *prefix, const char *text) {
  p3v_complain("%s%s%s\n", prefix && *prefix ? prefix : "", prefix && *prefix ? ": " : "", text);
  p3v_wrote(SHIM(stderr));
}

void SHIM(perror)(const char *prefix) {
  int number = errno;
  message(prefix, SHIM(strerror)(number));
  errno = number;
}

void SHIM(psignal)(int number, const char *prefix) { message(prefix, SHIM(strsignal)(number)); }
