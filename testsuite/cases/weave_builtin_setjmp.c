// __builtin_setjmp and __builtin_longjmp, which are no functions: what calls the first runs one version after the other.
//@ run: nobody jumps
//@ args: 1
//@ run: both jump
//@ args: 5
//@ expect: output
//@ run: one jumps
//@ args: 3
//@ expect: both
#include <stdio.h>
#include <stdlib.h>

static void *back[5];
static int depth;

__attribute__((noinline)) static void deep(int n) {
  depth++;
  if (n > (V == 1 ? 3 : 2))
    __builtin_longjmp(back, 1);
  printf("down to %d\n", n);
}

__attribute__((noinline)) static int guarded(int n) {
  if (__builtin_setjmp(back)) {
    printf("caught at depth %d\n", depth);
    return 1;
  }
  for (int i = 0; i < n; i++)
    deep(i + 1);
  return 0;
}

int main(int argc, char **argv) {
  int caught = 0;
  for (int i = 0; i < 3; i++)
    caught += guarded(argc > 1 ? atoi(argv[1]) : 0);
  printf("%d times\n", caught);
  return caught;
}
