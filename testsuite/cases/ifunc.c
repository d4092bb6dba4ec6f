// A function that a resolver chooses when the program is loaded, called by its name, by an alias and through pointers.
//@ versions: 2
//@ merge: --check output,status,divergence
//@ expect: none
#include <stdio.h>

static int twice(int n) { return 2 * n; }
static int (*choose(void))(int) { return twice; }
int relay(int n) __attribute__((ifunc("choose")));

int other(int n) __attribute__((alias("relay")));

int (*volatile pointer)(int) = relay, (*volatile to_other)(int) = other;

int main(void) {
  int sum = 0;
  for (int i = 0; i < 3; i++)
    sum += relay(i) + pointer(i) + other(i) + to_other(i);
  printf("%d\n", sum);
  return 0;
}
