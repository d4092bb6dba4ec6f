// setjmp in a function that runs one version after the other, called from woven code and calling woven code; longjmp
// across woven frames, in one version only or in both from different depths.
//@ run: nobody jumps
//@ args: 3 9
//@ run: both jump
//@ args: 6 5
//@ run: one jumps
//@ args: 6 4
//@ expect: output
//@ run: from different depths
//@ args: 8 2
//@ expect: output
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static int calls;

static int deep(int n, int limit) {
  calls++;
  if (n == 0)
    return 0;
  if (limit == 5 && n == 2)
    longjmp(back, 7);
  if (limit == 4 && V == 2 && n == 3)
    longjmp(back, 8);
  if (limit == 2 && n == (V == 1 ? 5 : 1))
    longjmp(back, n);
  return 1 + deep(n - 1, limit);
}

static int guarded(int n, int limit) {
  volatile int tries = 0;
  int code = setjmp(back);
  if (code) {
    printf("jumped with %d\n", code);
    return -code;
  }
  tries++;
  return deep(n, limit) + tries;
}

int main(int argc, char **argv) {
  int n = atoi(argv[1]), limit = atoi(argv[2]), sum = 0;
  for (int i = 1; i <= n; i++) {
    int value = guarded(i, limit);
    printf("%d\n", value);
    sum += value;
  }
  printf("%d %d\n", sum, calls);
  return 0;
}
