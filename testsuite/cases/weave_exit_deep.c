// One version ends deep inside a call that both make together, by exit, abort, a signal or a failed assertion; the
// other goes on to its own end, calling on.
//@ run: neither
//@ args: 3 0
//@ run: exit
//@ args: 5 1
//@ expect: both
//@ run: the other exits
//@ args: 5 2
//@ expect: both
//@ run: abort
//@ args: 5 3
//@ expect: both
//@ run: assertion
//@ args: 5 4
//@ expect: both
//@ run: signal
//@ args: 5 5
//@ expect: both
//@ run: both exit at different depths
//@ args: 5 6
//@ expect: both
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int visits;

static void at_end(void) { printf("end after %d\n", visits); }

static int leaf(int how, int depth) {
  visits++;
  if (V == 2 && how == 1)
    exit(4);
  if (V == 1 && how == 2)
    exit(0);
  if (V == 2 && how == 3)
    abort();
  assert(!(V == 1 && how == 4));
  if (V == 2 && how == 5)
    raise(SIGTERM);
  if (how == 6 && depth == (V == 1 ? 0 : 2))
    exit(V);
  return depth;
}

static int tree(int n, int how, int depth) {
  int local[4] = {n, how, depth, 0};
  for (int i = 0; i < 3; i++) {
    if (n > 0)
      local[3] += tree(n - 1 - i, how, depth + 1);
    local[3] += leaf((n == 1 && i == 1) || how == 6 ? how : 0, depth);
  }
  return local[3] + local[0];
}

int main(int argc, char **argv) {
  atexit(at_end);
  int total = tree(atoi(argv[1]), atoi(argv[2]), 0);
  printf("total %d\n", total);
  return visits % 3 + 1;
}
