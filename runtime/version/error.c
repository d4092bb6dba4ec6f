/* error(3) and err(3), per version: on the version's stderr, with its program name, ended by its
 * own exit. libc's would print on the process's stderr and end the whole product. */
#include "p3v_libc.h"
#include <err.h>
#include <errno.h>
#include <string.h>

int SHIM(fflush)(FILE *file);

unsigned SHIM(error_message_count);
int SHIM(error_one_per_line);
void (*SHIM(error_print_progname))(void);

/* Prints what follows the location, then ends the version if `status` asks for it. */
static void finish_error(int status, int number, const char *format, va_list args) {
  p3v_vcomplain(format, args);
  SHIM(error_message_count)++;
  if (number)
    p3v_complain(": %s", SHIM(strerror)(number));
  p3v_complain("\n");
  SHIM(fflush)(SHIM(stderr));
  if (status)
    SHIM(exit)(status);
}

void SHIM(error)(int status, int number, const char *format, ...) {
  va_list args;
  SHIM(fflush)(SHIM(stdout));
  if (SHIM(error_print_progname))
    SHIM(error_print_progname)();
  else
    p3v_complain("%s: ", SHIM(program_invocation_name));
  va_start(args, format);
  finish_error(status, number, format, args);
  va_end(args);
}

static bool same_file(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

void SHIM(error_at_line)(int status, int number, const char *file, unsigned line, const char *format, ...) {
  static const char *last_file;
  static unsigned last_line;
  if (SHIM(error_one_per_line)) {
    if (last_line == line && same_file(last_file, file))
      return;
    last_file = file;
    last_line = line;
  }

  va_list args;
  SHIM(fflush)(SHIM(stdout));
  if (SHIM(error_print_progname))
    SHIM(error_print_progname)();
  else
    p3v_complain("%s:", SHIM(program_invocation_name));
  if (file)
    p3v_complain("%s:%u: ", file, line);
  else
    p3v_complain(" ");
  va_start(args, format);
  finish_error(status, number, format, args);
  va_end(args);
}

void SHIM(vwarn)(const char *format, va_list args) {
  int number = errno;
  p3v_complain("%s: ", SHIM(program_invocation_short_name));
  if (format) {
    p3v_vcomplain(format, args);
    p3v_complain(": ");
  }
  errno = number;
  p3v_complain("%s\n", SHIM(strerror)(number));
}

void SHIM(vwarnx)(const char *format, va_list args) {
  p3v_complain("%s: ", SHIM(program_invocation_short_name));
  if (format)
    p3v_vcomplain(format, args);
  p3v_complain("\n");
}

void SHIM(verr)(int status, const char *format, va_list args) {
  SHIM(vwarn)(format, args);
  SHIM(exit)(status);
}

void SHIM(verrx)(int status, const char *format, va_list args) {
  SHIM(vwarnx)(format, args);
  SHIM(exit)(status);
}

void SHIM(warn)(const char *format, ...) {
  va_list args;
  va_start(args, format);
  SHIM(vwarn)(format, args);
  va_end(args);
}

void SHIM(warnx)(const char *format, ...) {
  va_list args;
  va_start(args, format);
  SHIM(vwarnx)(format, args);
  va_end(args);
}

void SHIM(err)(int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  SHIM(verr)(status, format, args);
  va_end(args);
}

void SHIM(errx)(int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  SHIM(verrx)(status, format, args);
  va_end(args);
}
