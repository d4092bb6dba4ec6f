/* Formatting of messages.
 *
 * The vsnprintf of KLEE's libc needs tens of thousands of instructions for a line, on every path that ends with
 * a difference. What the messages there use is only %s and %d. */
#include "core.h"
#include <string.h>

static size_t decimal(char digits[12], int value) {
  unsigned rest = value < 0 ? -(unsigned)value : (unsigned)value;
  size_t at = 12;
  do
    digits[--at] = '0' + rest % 10;
  while (rest /= 10);
  if (value < 0)
    digits[--at] = '-';
  memmove(digits, digits + at, 12 - at);
  return 12 - at;
}

int p3_vformat(char *text, size_t size, const char *format, va_list arguments) {
  if (!p3_in_klee())
    return vsnprintf(text, size, format, arguments);
  size_t length = 0, room = size ? size - 1 : 0;
  while (*format) {
    char digits[12];
    const char *piece = format;
    size_t piece_length = 0;
    if (format[0] == '%' && format[1] == 's') {
      piece = va_arg(arguments, const char *);
      piece_length = strlen(piece);
      format += 2;
    } else if (format[0] == '%' && format[1] == 'd') {
      piece_length = decimal(digits, va_arg(arguments, int));
      piece = digits;
      format += 2;
    } else {
      do
        format++;
      while (*format && *format != '%');
      piece_length = (size_t)(format - piece);
    }
    if (length < room)
      p3_memory_copy(text + length, piece, piece_length < room - length ? piece_length : room - length);
    length += piece_length;
  }
  if (size)
    text[length < room ? length : room] = 0;
  return (int)length;
}

int p3_format(char *text, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = p3_vformat(text, size, format, arguments);
  va_end(arguments);
  return length;
}
