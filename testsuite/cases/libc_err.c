// err(3): warn, warnx, err, errx and their v forms, with the version's errno, program name and exit.
//@ args: err
//@ run: err
//@ run: errx
//@ args: errx
//@ run: verrx
//@ args: verrx
//@ run: the second version has another errno
//@ args: number
//@ expect: output
#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vwarnx(format, args);
  va_end(args);
  va_start(args, format);
  verrx(9, format, args);
}

static void bye(void) { printf("bye\n"); }

int main(int argc, char **argv) {
  atexit(bye);
  printf("not lost\n");
  errno = ENOENT;
  warn("file %s", "x");
  printf("errno %d\n", errno);
  warnx("no errno %d", 3);
  errno = EACCES;
  warn(NULL);
  warnx(NULL);
  errno = strcmp(argv[1], "number") == 0 && V == 2 ? EPERM : EIO;
  if (strcmp(argv[1], "errx") == 0)
    errx(6, "gone %d", argc);
  if (strcmp(argv[1], "verrx") == 0)
    fail("with %s", "list");
  err(7, "last %d", argc);
}
