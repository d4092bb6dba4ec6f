// error and error_at_line: order with stdout, count, one message per line, own printer, exit through atexit.
//@ run: continue
//@ run: exit
//@ args: 3
//@ run: the second version exits otherwise
//@ args: 4
//@ expect: status
#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>

static void name(void) { fprintf(stderr, "<%u> ", error_message_count); }
static void bye(void) { printf("bye after %u\n", error_message_count); }

int main(int argc, char **argv) {
  int status = argc > 1 ? atoi(argv[1]) : 0;
  atexit(bye);
  setvbuf(stdout, NULL, _IOFBF, 4096);
  printf("first\n");
  error(0, 0, "plain %d %s", 1, "text");
  error(0, ENOENT, "with number %d", 2);
  printf("second\n");
  error_at_line(0, EPERM, "file.c", 10, "at line");
  error_at_line(0, 0, NULL, 11, "without file");
  error_one_per_line = 1;
  error_at_line(0, 0, "file.c", 12, "once");
  error_at_line(0, 0, "file.c", 12, "never shown");
  error_at_line(0, 0, "file.c", 13, "next");
  error_print_progname = name;
  error(0, 99999, "own printer");
  printf("third\n");
#if V == 2
  if (status == 4)
    status = 5;
#endif
  error(status, 0, "last");
  printf("still here\n");
  return 0;
}
