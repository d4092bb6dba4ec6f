// exit from the depth of a recursion, with a status that depends on it.
//@ expect: none
//@ run: five
//@ args: 5
//@ run: eight
//@ args: 8
//@ expect: both
#include <stdio.h>
#include <stdlib.h>

static int descend(int depth) {
  printf("down %d\n", depth);
  if (depth == 0)
    exit(7);
#if V == 2
  if (depth == 8)
    exit(3);
#endif
  int result = descend(depth - 1);
  printf("never printed %d\n", result);
  return result;
}

int main(int argc, char **argv) {
  int result = descend(atoi(argv[1]));
  puts("never printed");
  return result;
}
