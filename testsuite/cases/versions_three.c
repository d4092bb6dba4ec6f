// Three versions; each may be the one that differs.
//@ versions: 3
//@ run: equal
//@ args: 0
//@ run: first
//@ args: 1
//@ expect: output
//@ run: middle fails
//@ args: 2
//@ expect: status
//@ run: last
//@ args: 3
//@ expect: both
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int which = atoi(argv[1]);
  printf("hello%s\n", which != 2 && which == V ? "!" : "");
  if (which > 1 && which == V)
    exit(which);
  return 0;
}
