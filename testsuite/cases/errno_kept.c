// errno belongs to one version and survives what the other does in between.
//@ run: fails
//@ args: /nonexistent/file
//@ expect: output
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  printf("at start %d\n", errno);
  int fd = open(argv[1], O_RDONLY);
  int saved = errno;
  printf("%d %d %s %m\n", fd, saved == ENOENT, strerror(saved));
  errno = V == 2 ? EDOM : ERANGE;
  puts("kept by puts");
  perror("mine");
  errno = 0;
  strtol("99999999999999999999", NULL, 10);
  printf("%d\n", errno == ERANGE);
  errno = 0;
  fclose(fopen("/dev/null", "r"));
  printf("%d\n", close(77) == -1 && errno == EBADF);
  int *location = &errno;
  *location = 5;
  printf("%d\n", errno);
  return 0;
}
