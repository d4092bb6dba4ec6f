// A reader that goes away: SIGPIPE ends the version, EPIPE is an error where it is ignored.
//@ stdout: head 10
//@ run: fatal
//@ args: f
//@ run: ignored
//@ args: i
//@ expect: output
//@ run: fatal, in the middle of a write
//@ args: f b
//@ run: ignored, in the middle of a write
//@ args: i b
//@ expect: output
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* More than a pipe holds: the reader goes away while the version waits for room. */
static int much(void) {
  static char bytes[300000];
  for (int i = 0; i < 1000; i++)
    if (write(1, bytes, sizeof bytes) < 0) {
      fprintf(stderr, "version %d: %s\n", V, strerror(errno));
      return 7;
    }
  fprintf(stderr, "never printed\n");
  return 0;
}

int main(int argc, char **argv) {
  if (argv[1][0] == 'i')
    signal(SIGPIPE, SIG_IGN);
  if (argc > 2)
    return much();
  for (int i = 0; i < 1000000; i++)
    if (printf("line %d\n", i) < 0) {
      fprintf(stderr, "version %d: %s\n", V, strerror(errno));
      return 7;
    }
  fprintf(stderr, "never printed\n");
  return 0;
}
