// Standard output closed: writes fail with EBADF, the number is free for the next open.
//@ stdout: closed
//@ run: write
//@ args: w
//@ expect: output
//@ run: open
//@ args: o
//@ run: exit
//@ args: e
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  switch (argv[1][0]) {
  case 'w':
    fprintf(stderr, "%zd %d\n", write(1, "x", 1), errno == EBADF);
    fprintf(stderr, "%d", printf("text\n"));
    fprintf(stderr, " %d", fflush(stdout));
    fprintf(stderr, " %d %d\n", errno == EBADF, ferror(stdout) != 0);
    fprintf(stderr, "version %d\n", V);
    break;
  case 'o':
    fprintf(stderr, "%d\n", open("/dev/null", O_WRONLY));
    fprintf(stderr, "%d\n", printf("goes into /dev/null\n"));
    break;
  case 'e':
    printf("lost without notice");
    return fclose(stdout) ? 3 : 4;
  }
  return 0;
}
