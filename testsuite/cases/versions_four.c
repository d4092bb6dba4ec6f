// Four versions, as base, two variants and a merge candidate; combined status without checks.
//@ versions: 4
//@ merge: --check none
//@ run: none
//@ args: 1
//@ run: variant a
//@ args: 12
//@ expect: both
//@ run: all
//@ args: 130
//@ expect: both
#include <stdio.h>
#include <stdlib.h>

static int limit_low(int x) { return (V == 2 || V == 4) && x > 10 ? 10 : x; }
static int is_error(int x) { return (V == 3 || V == 4) && x > 100; }

int main(int argc, char **argv) {
  int x = atoi(argv[1]);
  if (is_error(x)) {
    fprintf(stderr, "too large\n");
    return 3;
  }
  printf("%d\n", limit_low(x));
  return V == 2 && x > 10 ? 1 : 0;
}
