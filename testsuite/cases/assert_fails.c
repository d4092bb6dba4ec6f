// A failed assertion: its message on stderr, SIGABRT, and the product's check for it.
//@ run: holds
//@ args: 3
//@ run: fails in both
//@ args: 0
//@ expect: none
//@ expect-check: p3: ...
//@ run: fails in one
//@ args: 10
//@ expect: both
//@ expect-check: p3: ...
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static int divide(int a, int b) {
  assert(b != 0 && "division");
#if V == 2
  assert(b < 10);
#endif
  return a / b;
}

int main(int argc, char **argv) {
  printf("%d\n", divide(100, atoi(argv[1])));
  return 0;
}
