// A difference in bytes only, without another path: it is found when the outputs are compared.
//@ args: "12"
//@ expect: output
//@ klee: difference --sym-args 1 1 2
#include <stdio.h>

int main(int argc, char **argv) {
  unsigned char c = argc > 1 ? argv[1][0] : 0;
  putchar(c ^ (V == 2 ? c & 1 : 0));
  putchar('\n');
  return 0;
}
