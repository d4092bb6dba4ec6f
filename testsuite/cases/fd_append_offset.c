// A standard output opened for appending is at its beginning until something is written.
//@ stdout: append
//@ expect: output
#include <stdio.h>
#include <unistd.h>

int main(void) {
  fprintf(stderr, "%d\n", (int)lseek(1, 0, SEEK_CUR));
  write(1, "text\n", 3 + V);
  off_t here = lseek(1, 0, SEEK_CUR);
  fprintf(stderr, "%d\n", here == lseek(1, 0, SEEK_END));
  lseek(1, 1, SEEK_SET);
  fprintf(stderr, "%d\n", (int)lseek(1, 0, SEEK_CUR));
  write(1, "more\n", 5);
  fprintf(stderr, "%d\n", lseek(1, 0, SEEK_CUR) == here + 5);
  return 0;
}
