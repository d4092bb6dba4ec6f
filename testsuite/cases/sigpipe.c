// A reader that goes away: SIGPIPE ends the version, EPIPE is an error where it is ignored.
//@ stdout: head 10
//@ run: fatal
//@ args: f
//@ run: ignored
//@ args: i
//@ expect: output
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argv[1][0] == 'i')
    signal(SIGPIPE, SIG_IGN);
  for (int i = 0; i < 1000000; i++)
    if (printf("line %d\n", i) < 0) {
      fprintf(stderr, "version %d: %s\n", V, strerror(errno));
      return 7;
    }
  fprintf(stderr, "never printed\n");
  return 0;
}
