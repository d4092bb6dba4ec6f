// What a version does at the address 0 itself, which LLVM takes for impossible: at -O0 it crashes.
//@ levels: -O0
//@ run: calls it
//@ args: call
//@ run: stores
//@ args: store
//@ run: loads
//@ args: load
//@ run: a member
//@ args: member
//@ run: in one version only
//@ args: one
//@ expect: both
//@ run: not at all
//@ args: nothing
#include <stdio.h>

struct pair {
  long first, second;
};

int main(int argc, char **argv) {
  printf("to be %s\n", argv[1]);
  fflush(stdout);
  switch (argv[1][0]) {
  case 'c':
    ((void (*)(void))0)();
    break;
  case 's':
    *(int *)0 = V;
    break;
  case 'l':
    printf("%d\n", *(int *)0);
    break;
  case 'm':
    ((struct pair *)0)->second = 1;
    break;
  case 'o':
    if (V == 2)
      *(char *)0 = 1;
  }
  printf("after it\n");
  return 0;
}
