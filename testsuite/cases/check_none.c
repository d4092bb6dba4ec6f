// Without checks a difference is recorded and nothing aborts.
//@ merge: --check none
//@ run: output
//@ args: 0 0
//@ expect: output
//@ run: second fails
//@ args: 0 5
//@ expect: both
//@ run: both fail
//@ args: 5 5
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  printf("version %d\n", V);
  return atoi(argv[V]);
}
