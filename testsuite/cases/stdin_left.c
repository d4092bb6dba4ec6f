// Where the input is left for the next reader: a child sees what the version did not read.
//@ run: file
//@ stdin: file "first\nsecond\nthird\n"
//@ run: pipe
//@ stdin: pipe "first\nsecond\nthird\n"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  char c;
  int lines = V;
  while (lines > 0 && read(0, &c, 1) == 1) {
    putchar(c);
    lines -= c == '\n';
  }
  fflush(stdout);
  system("cat");
  printf("left: %zd\n", read(0, &c, 1));
  return 0;
}
