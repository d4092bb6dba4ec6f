// Eight versions, more than the combined status has bits for.
//@ versions: 8
//@ merge: --check none
//@ stdin: pipe "some words on\ntwo lines\n"
//@ run: equal
//@ args: 9
//@ run: one differs
//@ args: 5
//@ expect: both
//@ run: most differ
//@ args: 2
//@ expect: both
#include <stdio.h>
#include <stdlib.h>

static int calls;
static void handler(void) { printf("calls %d\n", calls); }

int main(int argc, char **argv) {
  int c, which = atoi(argv[1]);
  atexit(handler);
  while ((c = getchar()) != EOF) {
    calls++;
    if (c == '\n' && (which == 5 ? V == 5 : V > which))
      exit(V);
  }
  return 0;
}
