// No input at all: an empty file, an empty pipe, /dev/null, a closed descriptor.
//@ run: file
//@ stdin: file
//@ expect: output
//@ run: pipe
//@ stdin: pipe
//@ expect: output
//@ run: null
//@ expect: output
//@ run: closed
//@ stdin: closed
//@ expect: output
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  char line[10];
  int number = -1;
  int first = getchar();
  printf("%d eof %d error %d\n", first, feof(stdin) != 0, ferror(stdin) != 0);
  printf("%d\n", fgets(line, sizeof line, stdin) != NULL);
  clearerr(stdin);
  printf("%d %d\n", scanf("%d", &number), number);
  errno = 0;
  ssize_t size = read(0, line, 1);
  printf("%zd %d\n", size, errno == EBADF);
  printf("%d\n", V);
  return 0;
}
