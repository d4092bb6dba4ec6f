// The has-digit loop: found = 1 against found ^= ..., which differ for two digits.
//@ run: one
//@ args: ab1cd
//@ run: two
//@ args: a1b2
//@ expect: both
//@ klee: difference --sym-args 1 1 3
#include <stdio.h>

int main(int argc, char **argv) {
  int found = 0;
  for (const char *p = argc > 1 ? argv[1] : ""; *p; p++)
    if (*p >= '0' && *p <= '9')
#if V == 1
      found = 1;
#else
      found ^= 1;
#endif
  puts(found ? "digit" : "none");
  return found;
}
