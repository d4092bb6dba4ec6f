// error(3) and err(3): program name, errno texts, error_message_count, and their exits.
//@ run: warnings
//@ args: w
//@ expect: output
//@ run: error exits
//@ args: e
//@ expect: status
//@ run: err exits
//@ args: r
//@ expect: status
#include <err.h>
#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>

static void name(void) { fprintf(stderr, "custom: "); }
static void handler(void) { printf("handler\n"); }

int main(int argc, char **argv) {
  atexit(handler);
  printf("flushed by error\n");
  errno = ENOENT;
  switch (argv[1][0]) {
  case 'w':
    warn("warn %d", 1);
    warnx("warnx");
    error(0, ENOENT, "error %s", "text");
    error_at_line(0, 0, "file.c", 12, "at a line");
    error_print_progname = name;
    error(0, 0, "version %d", V);
    printf("%u\n", error_message_count);
    error_one_per_line = 1;
    error_at_line(0, 0, "file.c", 12, "once");
    error_at_line(0, 0, "file.c", 12, "not twice");
    fprintf(stderr, "%s %s\n", program_invocation_name, program_invocation_short_name);
    return 0;
  case 'e':
    error(20 + V, errno, "fatal");
  case 'r':
    err(30 + V, "fatal");
  }
  return 1;
}
