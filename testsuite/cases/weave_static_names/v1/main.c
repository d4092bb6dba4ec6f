// Static functions, variables and types of the same names in three files of a version; their order changes, and one
// file's are changed.
//@ run: small
//@ args: 2 3
//@ run: large
//@ args: 7 9
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

int left(int x);
int right(int x);

static int helper(int x) { return x + 1; }
static int state = 5;

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    int x = atoi(argv[i]);
    state += helper(x);
    printf("%d %d %d\n", left(x), right(x), state);
  }
  return 0;
}
