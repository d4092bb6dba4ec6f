// A break that stands before the loop's work in one version and behind it in the other.
//@ run: no stop
//@ args: 3 5 7
//@ run: stop in the middle
//@ args: 3 0 7
//@ expect: output
//@ run: stop at once
//@ args: 0 3 7
//@ expect: output
//@ run: twice
//@ args: 3 0 7 0 9
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

static int visited;

static int visit(int x) {
  visited++;
  printf("visit %d\n", x);
  return 2 * x + 1;
}

static int walk(int count, char **words) {
  int total = 0, i;
  for (i = 0; i < count; i++) {
    int x = atoi(words[i]);
#if V == 1
    if (x == 0)
      break;
    total += visit(x);
#else
    total += visit(x);
    if (x == 0)
      break;
#endif
    total *= 3;
  }
  printf("stopped at %d\n", i);
  return total;
}

int main(int argc, char **argv) {
  int first = walk(argc - 1, argv + 1);
  int second = walk(argc - 2, argv + 2);
  printf("%d %d %d\n", first, second, visited);
  return 0;
}
