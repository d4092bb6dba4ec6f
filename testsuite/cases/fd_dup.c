// dup, dup2, dup3, fcntl(F_DUPFD) and close on 0 to 2: numbers and where the bytes go.
//@ stdin: pipe "in"
//@ expect: output
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  setbuf(stdout, NULL);
  int copy = dup(1);
  printf("copy %d\n", copy);
  printf("F_DUPFD %d\n", fcntl(1, F_DUPFD, 10));
  int file = open("f", O_RDWR | O_CREAT | O_TRUNC, 0600);
  printf("file %d\n", file);
  printf("dup2 %d\n", dup2(file, 1));
  printf("into the file\n");
  write(1, "this too\n", 9);
  printf("back %d\n", dup2(copy, 1));
  char text[64];
  ssize_t size = pread(file, text, sizeof text, 0);
  printf("%zd bytes: %.*s", size, (int)size, text);
  close(0);
  printf("lowest %d\n", open("f", O_RDONLY));
  size = read(0, text, V == 2 ? 4 : 6);
  printf("%.*s\n", (int)size, text);
  printf("dup3 %d\n", dup3(file, 7, O_CLOEXEC));
  printf("cloexec %d\n", fcntl(7, F_GETFD));
  printf("bad %d %d\n", dup2(99, 1), errno == EBADF);
  close(1);
  printf("nowhere");
  dprintf(2, "lowest again %d\n", dup(2));
  printf("to stderr now\n");
  unlink("f");
  return 0;
}
