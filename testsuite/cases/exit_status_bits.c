// Only eight bits of a status count, and a return from main is an exit.
//@ run: 256
//@ args: 256
//@ expect: status
//@ run: minus one
//@ args: -1
//@ run: return
//@ args: 300 return
//@ expect: status
#include <stdlib.h>

int main(int argc, char **argv) {
  int status = atoi(argv[1]);
#if V == 2
  if (status >= 256)
    status++;
#endif
  if (argc > 2)
    return status;
  exit(status);
}
