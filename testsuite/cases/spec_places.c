// Places of specifications: in loops, recursion, callbacks, variadic and version-only functions, two on a line, in a
// header's function that two others call, with a variable-length array.
//@ levels: -O0
//@ expect-specs: 3/0/0 3/0/0 1/0/0 0/0/10 5/0/0 2/0/0 0/0/1 0/0/1 0/0/1 0/0/1 0/0/1
#include <p3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int shared(int n) {
  int more = n + 1;
  pp_assert(PP1(more) == PP2(more));
  return more;
}

static int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  pp_assert(PP1(x) == PP2(x) && PP1(y) == PP2(y));
  return x < y ? -1 : x > y;
}

static int factorial(int n) {
  int product = n <= 1 ? 1 : n * factorial(n - 1);
  pp_assert(PP1(product) == PP2(product) && PP1(n) == PP2(n));
  return product;
}

#if V == 2
static int only_new(int n) {
  int twice = n * 2;
  pp_assert(PP2(twice) == 2 * PP2(n));
  return twice;
}
#endif

static int last_of(int n) {
  char bytes[n];
  memset(bytes, 'x', n);
  pp_assert(memcmp(PP1(bytes), PP2(bytes), n) == 0);
  return bytes[n - 1];
}

static int first_of(int n, ...) {
  pp_assert(PP1(n) == PP2(n));
  return n;
}

int main(int argc, char **argv) {
  int values[] = {5, 3, 9, 1};
  (void)argv;
  qsort(values, 4, sizeof *values, compare);
  printf("%d %d\n", values[0], factorial(5));
  for (int i = 0; i < 3; i++) { pp_assert(PP1(i) == PP2(i)); pp_assert(PP1(i) < 3); }
  printf("%d %d\n", shared(argc), shared(7));
  int k = argc;
#if V == 2
  k = only_new(k) / 2;
#endif
  pp_assert(PP1(k) == PP2(k));
  printf("%d %d %d\n", k, last_of(4), first_of(3, 4));
  return 0;
}
