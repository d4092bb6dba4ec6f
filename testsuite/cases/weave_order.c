// Code moved: two statements exchanged, two blocks exchanged, a condition negated, a loop turned round.
//@ run: same
//@ args: 0 4
//@ run: differ
//@ args: 3 12
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

static int state = 1;

static int twist(int x) { return state = state * 3 + x; }
static int turn(int x) { return state = state / 2 + x; }

static int pass(int n) {
  int sum = 0;
#if V == 1
  for (int i = 0; i < n; i++) {
    int a = twist(i);
    int b = turn(7);
    if (a > b)
      sum += a;
    else
      sum -= b;
  }
#else
  for (int i = 0; i != n;) {
    int b = turn(7);
    int a = twist(i);
    if (!(a > b)) {
      sum -= b;
    } else {
      sum += a;
    }
    ++i;
  }
#endif
  return sum % 1000;
}

int main(int argc, char **argv) {
  int total = 0;
  for (int i = 1; i < argc; i++)
    total += pass(atoi(argv[i]));
  if (atoi(argv[1]))
    printf("%d %d\n", total, state);
  return 0;
}
