// Functions that recurse out of step: one version goes a level deeper, or takes the branches in another order.
//@ run: shallow
//@ args: 2
//@ run: deep
//@ args: 11
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

static int calls, deepest;

static long walk(int n, int depth) {
  calls++;
  if (depth > deepest)
    deepest = depth;
  if (n <= 1)
    return n;
  if (V == 2 && n % 5 == 0 && depth < 6)
    return walk(n, depth + 1);
#if V == 1
  long left = walk(n - 1, depth + 1);
  long right = walk(n - 2, depth + 1);
#else
  long right = walk(n - 2, depth + 1);
  long left = walk(n - 1, depth + 1);
#endif
  return left + right;
}

static int is_even(int n);
static int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
static int is_even(int n) {
  if (V == 2 && n > 2)
    return is_even(n - 2);
  return n == 0 ? 1 : is_odd(n - 1);
}

int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  long value = walk(n, 0);
  printf("%ld %d\n", value, is_even(n));
  if (n > 4)
    printf("%d calls, %d deep\n", calls, deepest);
  return 0;
}
