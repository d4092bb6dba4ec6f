// A version crashes after it has read some of a FIFO, and has written to another: both are as alone when the versions
// run again one after the other.
//@ run: crash
//@ fifo: in "first\nsecond\nthird\n"
//@ fifo-read: out
//@ pipe: 63 "inherited\npipe\n"
//@ expect: both
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void line(int fd) {
  char byte;
  while (read(fd, &byte, 1) == 1 && byte != '\n')
    putchar(byte);
  putchar('\n');
  fflush(stdout);
}

int main(void) {
  int in = open("in", O_RDONLY), out = open("out", O_WRONLY);
  line(in);
  line(63);
  dprintf(out, "written before\n");
#if V == 2
  *(volatile int *)0 = 1;
#endif
  line(in);
  line(in);
  line(63);
  line(in);
  dprintf(out, "written behind\n");
  return 0;
}
