// Aliases of functions and variables, weak ones too, and an ifunc-free dispatch through them.
//@ expect: output
#include <stdio.h>

static int count = 1;
extern int number __attribute__((alias("count")));
static int twice(int x) { return 2 * x; }
int doubled(int x) __attribute__((alias("twice")));
int maybe_doubled(int x) __attribute__((weak, alias("doubled")));

int main(void) {
  count += V;
  int (*pointers[])(int) = {doubled, maybe_doubled, twice};
  for (int i = 0; i < 3; i++)
    printf("%d\n", pointers[i](number));
  printf("%d %d\n", &number == &count, pointers[0] == pointers[2]);
  return 0;
}
