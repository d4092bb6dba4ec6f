/* Conversions that a version adds to printf with register_printf_specifier.
 *
 * libc has one table; the owner's conversions are put there when it becomes the owner. Not covered: new
 * modifiers and types, whose numbers libc counts for the whole process. */
#include "p3v_libc.h"
#include <errno.h>
#include <printf.h>

static struct {
  printf_function *convert;
  printf_arginfo_size_function *describe;
} own[256];

void p3v_printf_specifiers_enter(void) {
  for (int specifier = 0; specifier < 256; specifier++)
    if (p3_printf_specifiers[specifier])
      register_printf_specifier(specifier, own[specifier].convert, own[specifier].describe);
}

int SHIM(register_printf_specifier)(int specifier, printf_function *convert,
                                    printf_arginfo_size_function *describe) {
  if (specifier < 0 || specifier > 255) {
    errno = EINVAL;
    return -1;
  }
  p3_reading_differs = true;
  for (int i = 0; i < p3_count; i++)
    p3_readings[i] = P3_READS_ALONE(i);
  p3v_libc_enter();
  p3_printf_specifiers[specifier] = true;
  own[specifier].convert = convert;
  own[specifier].describe = describe;
  return register_printf_specifier(specifier, convert, describe);
}

int SHIM(register_printf_function)(int specifier, printf_function *convert,
                                   printf_arginfo_function *describe) {
  return SHIM(register_printf_specifier)(specifier, convert, (printf_arginfo_size_function *)describe);
}
