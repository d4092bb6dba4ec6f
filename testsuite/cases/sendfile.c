// Bytes that reach standard output without a buffer of the program: sendfile, copy_file_range, splice and tee-like loops.
//@ stdin: file "the whole input\n"
//@ run: pipe
//@ expect: output
//@ run: file
//@ stdout: file
//@ expect: output
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <unistd.h>

int main(void) {
  /* Files that versions in lock-step write collide, so each has a directory of its own. */
  char own[] = "sendfileXXXXXX";
  if (!mkdtemp(own) || chdir(own) != 0)
    return 9;
  FILE *file = fopen("data", "w+");
  fprintf(file, "data of version %d\n", V);
  fflush(file);
  off_t start = 0;
  printf("before\n");
  fflush(stdout);
  dprintf(2, "%zd\n", sendfile(1, fileno(file), &start, 1000));
  dprintf(2, "%zd\n", sendfile(1, 0, NULL, 9));
  char rest[32];
  ssize_t size = read(0, rest, sizeof rest);
  printf("rest %.*s", (int)size, rest);
  unlink("data");
  return 0;
}
