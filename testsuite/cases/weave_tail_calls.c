// Functions that call one another without end but for the counter, as their last act: compiled with optimisation they
// need no stack, also if a call may end the version.
//@ levels: -O2
//@ link: -O2
//@ run: millions
//@ args: 3000000
//@ run: few
//@ args: 11
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

static int odd(unsigned left, long *sum);

__attribute__((noinline)) static int even(unsigned left, long *sum) {
  if (left == 0)
    return 1;
  if (*sum < 0)
    exit(3);
  *sum += left;
  return odd(left - 1, sum);
}

__attribute__((noinline)) static int odd(unsigned left, long *sum) {
  if (left == 0) {
    if (V == 2)
      puts("odd");
    return 0;
  }
  *sum ^= left;
  return even(left - 1, sum);
}

int main(int argc, char **argv) {
  long sum = 0;
  int result = even(argc > 1 ? atoi(argv[1]) : 0, &sum);
  printf("%d %ld\n", result, sum);
  return result;
}
