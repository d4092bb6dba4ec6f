// /dev/full: every version sees ENOSPC when its buffer is written, as a careful program reports.
//@ stdout: full
//@ run: buffered
//@ expect: none
//@ run: unbuffered
//@ args: x
//@ expect: both
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void close_stdout(void) {
  if (fclose(stdout) != 0) {
    fprintf(stderr, "write error: %s\n", strerror(errno));
    _exit(2);
  }
}

int main(int argc, char **argv) {
  atexit(close_stdout);
  if (argc > 1) {
    setbuf(stdout, NULL);
    int result = puts("text");
    fprintf(stderr, "puts %d %d version %d\n", result, errno == ENOSPC, V);
    return V == 2 ? 9 : 8;
  }
  printf("text\n");
  return 0;
}
