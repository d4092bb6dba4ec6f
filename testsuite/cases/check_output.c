// The default checks fail: the first differing position is named, and the product aborts.
//@ run: stdout
//@ args: o
//@ expect: output
//@ expect-check: p3: ...stdout...10...
//@ run: stderr
//@ args: e
//@ expect: output
//@ expect-check: p3: ...stderr...6...
//@ run: longer
//@ args: l
//@ expect: output
//@ expect-check: p3: ...stdout...7...
//@ run: nothing differs
//@ args: n
#include <stdio.h>

int main(int argc, char **argv) {
  switch (argv[1][0]) {
  case 'o':
    printf("0123456789%c rest\n", 'a' + V);
    break;
  case 'e':
    fprintf(stderr, "error %d\n", V);
    break;
  case 'l':
    printf("common\n%s", V == 2 ? "and more\n" : "");
    break;
  default:
    printf("same\n");
  }
  return 0;
}
