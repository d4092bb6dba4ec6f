// None of the three standard descriptors is open at the start.
//@ stdin: closed
//@ stdout: closed
//@ stderr: closed
//@ expect: status
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  int status = 0;
  status |= getchar() == EOF && ferror(stdin) ? 1 : 0;
  status |= (open("/dev/null", O_RDWR) == 0) << 1;
  status |= (open("/dev/null", O_RDWR) == 1) << 2;
  status |= (dup(0) == 2) << 3;
  status |= (dup(0) == 3) << 4;
  return status + 32 * V;
}
