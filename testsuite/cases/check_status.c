// Only the status differs: the status check fails and names both.
//@ run: exit
//@ args: 3
//@ expect: status
//@ expect-check: p3: ...exit 3...exit 4
//@ run: signal
//@ args: 0
//@ expect: status
//@ expect-check: p3: ...exit 0...signal TERM
#include <signal.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int status = atoi(argv[1]);
#if V == 2
  if (status == 0)
    raise(SIGTERM);
  status++;
#endif
  return status;
}
