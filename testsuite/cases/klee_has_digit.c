// The has-digit loop of has_digit.c on more bytes: what weaving and folded conditions save.
//@ args: a1b
//@ klee: quarter --sym-args 1 1 5
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
  return 0;
}
