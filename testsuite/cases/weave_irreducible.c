// Loops with two entries, one of which one version uses in other cases; gotos into and out of loop bodies.
//@ run: even
//@ args: 6
//@ run: odd
//@ args: 7
//@ expect: output
//@ run: zero
//@ args: 0
#include <stdio.h>
#include <stdlib.h>

static int budget = 200;

static int tick(const char *where, int n) {
  printf("%s %d\n", where, n);
  return --budget > 0;
}

static int tangled(int n) {
  int x = n, y = 1;
  if (V == 1 ? n % 2 == 0 : n % 3 == 0)
    goto second;
first:
  if (!tick("first", x))
    return -1;
  x -= 2;
  if (x > 3)
    goto third;
second:
  if (!tick("second", y))
    return -2;
  y *= 3;
  x--;
  if (x > 0)
    goto first;
  if (y < 40)
    goto second;
third:
  if (!tick("third", x + y))
    return -3;
  if (y < 20 && V == 2)
    goto second;
  if (--x > 0)
    goto first;
  return x + y;
}

static int into_the_loop(int n) {
  int sum = 0, i = 0;
  if (n > 5)
    goto inside;
  for (i = 0; i < n; i++) {
    sum += i;
  inside:
    sum += 10 * tick("inside", i);
    if (sum > 55)
      goto out;
  }
  sum += 1000;
out:
  return sum;
}

int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  int a = n ? tangled(n) : 0;
  printf("%d %d\n", a, into_the_loop(n + (V == 2 && n == 7)));
  return 0;
}
