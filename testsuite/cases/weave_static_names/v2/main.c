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
