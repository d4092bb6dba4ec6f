// Weak definitions, weak undefined functions and variables, and a weak function that only one version has.
//@ expect: output
#include <stdio.h>

__attribute__((weak)) int maybe(int x);
__attribute__((weak)) extern int maybe_variable;
__attribute__((weak)) int hook(int x) { return x + 1; }
__attribute__((weak)) int level = 3;
#if V == 2
int maybe(int x) { return x * 2; }
#endif
extern int printf_missing_function(void) __attribute__((weak));

int main(void) {
  printf("%d\n", maybe ? maybe(21) : -1);
  printf("%d %d\n", &maybe_variable != NULL, printf_missing_function != NULL);
  printf("%d %d\n", hook(1), level);
  return 0;
}
