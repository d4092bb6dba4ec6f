// Both versions go the same way on every input; one byte of output differs for one value of the first byte.
#include <stdio.h>

int main(int argc, char **argv) {
  unsigned char c = argc > 1 ? argv[1][0] : 0;
  putchar(c ^ ((V == 2) & (c == 0x7b)));
  putchar('\n');
  return 0;
}
