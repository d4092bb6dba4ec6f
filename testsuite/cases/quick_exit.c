// quick_exit runs its own handlers, not atexit's, and flushes nothing.
//@ run: one
//@ args: 1
//@ expect: none
//@ run: two
//@ args: 2
//@ expect: both
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void never(void) { puts("never printed"); }
static void first(void) { write(1, "first\n", 6); }
static void second(void) { write(1, "second\n", 7); }

int main(int argc, char **argv) {
  atexit(never);
  at_quick_exit(first);
  at_quick_exit(second);
  if (V == 2 && argv[1][0] == '2')
    at_quick_exit(first);
  printf("lost");
  quick_exit(atoi(argv[1]) + (argv[1][0] == '2' ? V : 0));
}
