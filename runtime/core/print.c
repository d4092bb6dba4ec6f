/* printf in KLEE, for the usual formats.
 *
 * uclibc's vfprintf needs thousands of instructions for "%s\n": it clears and fills tables of specifications
 * first. KLEE's users never see that, since with stdout or stderr it calls the host's printf instead, which
 * fails for symbolic values. So what most formats consist of is done here: %s, %c and the integers, without
 * flags, width or precision. Anything else is left to uclibc.
 *
 * The text is composed behind the end of the capture, and belongs to it when all is there. */
#include "memory.h"
#include <string.h>

/* Room for any number. */
#define DIGITS 24

/* Two functions that differ in their type only: division of 64 bits is much harder for a solver. One branch for each
 * digit, since the value may be symbolic. They return the number of characters. */
#define DECIMAL(name, type)                                                                                  \
  static __attribute__((noinline)) size_t name(char *to, type value) {                                       \
    if (value < 10) {                                                                                        \
      *to = (char)('0' + value);                                                                             \
      return 1;                                                                                              \
    }                                                                                                        \
    if (value < 100) {                                                                                       \
      to[0] = (char)('0' + value / 10);                                                                      \
      to[1] = (char)('0' + value % 10);                                                                      \
      return 2;                                                                                              \
    }                                                                                                        \
    char digits[DIGITS], *start = digits + DIGITS - 2;                                                       \
    start[1] = (char)('0' + value % 10);                                                                     \
    value /= 10;                                                                                             \
    start[0] = (char)('0' + value % 10);                                                                     \
    value /= 10;                                                                                             \
    do                                                                                                       \
      *--start = (char)('0' + value % 10);                                                                   \
    while (value /= 10);                                                                                     \
    size_t size = (size_t)(digits + DIGITS - start);                                                         \
    p3_memory_copy(to, start, size);                                                                         \
    return size;                                                                                             \
  }
DECIMAL(decimal_32, uint32_t)
DECIMAL(decimal_64, uint64_t)

static __attribute__((noinline)) size_t hexadecimal(char *to, uint64_t value, const char *names) {
  char digits[DIGITS], *start = digits + DIGITS;
  do
    *--start = names[value & 15];
  while (value >>= 4);
  size_t size = (size_t)(digits + DIGITS - start);
  p3_memory_copy(to, start, size);
  return size;
}

static size_t signed_32(char *to, uint32_t value) {
  if ((int32_t)value >= 0)
    return decimal_32(to, value);
  *to = '-';
  return 1 + decimal_32(to + 1, -value);
}

static size_t signed_64(char *to, uint64_t value) {
  if ((int64_t)value >= 0)
    return decimal_64(to, value);
  *to = '-';
  return 1 + decimal_64(to + 1, -value);
}

/* Of an integer with 64 bits. 0: there is no such conversion. */
static size_t convert_64(char *to, char conversion, uint64_t value) {
  switch (conversion) {
  case 'd':
  case 'i':
    return signed_64(to, value);
  case 'u':
    return decimal_64(to, value);
  case 'x':
    return hexadecimal(to, value, "0123456789abcdef");
  case 'X':
    return hexadecimal(to, value, "0123456789ABCDEF");
  }
  return 0;
}

/* The same with 32 bits, and for characters. */
static size_t convert_32(char *to, char conversion, uint32_t value) {
  switch (conversion) {
  case 'd':
  case 'i':
    return signed_32(to, value);
  case 'u':
    return decimal_32(to, value);
  case 'c':
    *to = (char)value;
    return 1;
  case 'x':
    return hexadecimal(to, value, "0123456789abcdef");
  case 'X':
    return hexadecimal(to, value, "0123456789ABCDEF");
  }
  return 0;
}

/* Where the text ends that begins here and has no conversion in it. A switch is one instruction. */
static const char *end_of_text(const char *format) {
  for (;;)
    switch (*++format) {
    case 0:
    case '%':
      return format;
    }
}

/* Where the capture's memory ends, but for a number. */
static char *limit_of(const struct p3_capture *capture) { return capture->bytes + capture->capacity - DIGITS; }

/* More of it, of which what is before `to` is used already; returns where that is then. */
static char *grow(struct p3_capture *capture, char *to, size_t size) {
  size_t used = (size_t)(to - capture->bytes);
  p3_memory_grow(capture, used + size + DIGITS);
  return capture->bytes + used;
}

/* Not one variable of an inner scope, since leaving that costs instructions. */
int p3_memory_print(int version, FILE *file, const char *format, va_list arguments) {
  P3_CAPTURE_BEHIND(version, file, -1);
  char *to = capture->bytes + capture->length, *limit = limit_of(capture);
  const char *piece;
  char conversion;
  size_t size;
  uint64_t value; /* whatever an argument is, it has eight bytes */
  for (;;) {
    switch (*format) {
    case 0:
      p3_is_captured_in_memory = true;
      size = capture->length;
      capture->length = (size_t)(to - capture->bytes);
      return (int)(capture->length - size);
    default:
      piece = format;
      format = end_of_text(format);
      size = (size_t)(format - piece);
      break;
    case '%':
      conversion = format[1];
      format += 2;
      if (conversion == '%') {
        piece = format - 1;
        size = 1;
        break;
      }
      value = va_arg(arguments, uint64_t);
      if (conversion == 's') {
        piece = value ? (const char *)value : "(null)";
        size = strlen(piece);
        break;
      }
      if (to > limit) {
        to = grow(capture, to, 0);
        limit = limit_of(capture);
      }
      size = conversion == 'l' || conversion == 'z' ? convert_64(to, *format++, value)
                                                    : convert_32(to, conversion, (uint32_t)value);
      if (!size)
        return -1;
      to += size;
      continue;
    }
    if (to + size > limit) {
      to = grow(capture, to, size);
      limit = limit_of(capture);
    }
    if (size == 1)
      *to = *piece;
    else
      p3_memory_copy(to, piece, size);
    to += size;
  }
}
