/* printf in KLEE, for the usual formats.
 *
 * uclibc's vfprintf needs thousands of instructions for "%s\n": it clears and fills tables of specifications
 * first. KLEE's users never see that, since with stdout or stderr it calls the host's printf instead, which
 * fails for symbolic values. So what most formats consist of is done here: %s, %c and the integers, without
 * flags, width or precision. Anything else is left to uclibc. */
#include "p3v_streams.h"
#include <stdint.h>
#include <string.h>

#define PARTS 16
#define DIGITS 24

struct output {
  struct iovec parts[PARTS];
  char digits[PARTS][DIGITS];
  int count;
  size_t length;
};

static bool append(struct output *output, const char *bytes, size_t size) {
  if (output->count == PARTS)
    return false;
  output->parts[output->count++] = (struct iovec){(char *)bytes, size};
  output->length += size;
  return true;
}

/* The two differ in their type only: division of 64 bits is much harder for a solver. */
#define DECIMAL(name, type)                                                                                  \
  static char *name(char *end, type value) {                                                                 \
    do                                                                                                       \
      *--end = '0' + value % 10;                                                                             \
    while (value /= 10);                                                                                     \
    return end;                                                                                              \
  }
DECIMAL(decimal_32, uint32_t)
DECIMAL(decimal_64, uint64_t)

static char *hexadecimal(char *end, uint64_t value, const char *digits) {
  do
    *--end = digits[value & 15];
  while (value >>= 4);
  return end;
}

/* An integer conversion; `wide` if its argument has 64 bits. */
static bool append_integer(struct output *output, char conversion, bool wide, uint64_t value) {
  if (output->count == PARTS)
    return false;
  char *end = output->digits[output->count] + DIGITS, *start;
  bool is_signed = conversion == 'd' || conversion == 'i';
  bool negative = is_signed && (wide ? (int64_t)value < 0 : (int32_t)value < 0);
  if (conversion == 'x' || conversion == 'X')
    start = hexadecimal(end, wide ? value : (uint32_t)value,
                        conversion == 'x' ? "0123456789abcdef" : "0123456789ABCDEF");
  else if (wide)
    start = decimal_64(end, negative ? -value : value);
  else
    start = decimal_32(end, negative ? -(uint32_t)value : (uint32_t)value);
  if (negative)
    *--start = '-';
  return append(output, start, (size_t)(end - start));
}

static bool append_character(struct output *output, int character) {
  if (output->count == PARTS)
    return false;
  char *place = output->digits[output->count];
  *place = (char)character;
  return append(output, place, 1);
}

static bool append_string(struct output *output, const char *text) {
  if (!text)
    text = "(null)";
  return append(output, text, strlen(text));
}

/* False: the format has something else in it, or too much. */
static bool collect(struct output *output, const char *format, va_list arguments) {
  while (*format) {
    const char *start = format;
    while (*format && *format != '%')
      format++;
    if (format != start && !append(output, start, (size_t)(format - start)))
      return false;
    if (!*format)
      return true;
    bool wide = format[1] == 'l' || format[1] == 'z';
    format += wide ? 2 : 1;
    bool fits;
    switch (*format) {
    case '%':
      fits = !wide && append(output, format, 1);
      break;
    case 'c':
      fits = !wide && append_character(output, va_arg(arguments, int));
      break;
    case 's':
      fits = !wide && append_string(output, va_arg(arguments, const char *));
      break;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
      fits = append_integer(output, *format, wide,
                            wide ? va_arg(arguments, uint64_t) : va_arg(arguments, unsigned));
      break;
    default:
      return false;
    }
    if (!fits)
      return false;
    format++;
  }
  return true;
}

bool p3v_print(FILE *file, const char *format, va_list arguments, int *length) {
  struct output output;
  output.count = 0;
  output.length = 0;
  va_list copy;
  va_copy(copy, arguments);
  bool usual = collect(&output, format, copy);
  va_end(copy);
  *length = (int)output.length;
  return usual && p3v_put_parts(file, output.parts, output.count);
}
