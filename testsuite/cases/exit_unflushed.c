// _exit, _Exit and the system call end without flushing; what was flushed or written stays.
//@ run: _exit
//@ args: 1
//@ expect: status
//@ run: _Exit
//@ args: 2
//@ run: to a terminal, which is line buffered
//@ args: 1
//@ stdout: tty
//@ expect: status
//@ run: to a file
//@ args: 2
//@ stdout: file
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void handler(void) { puts("never printed"); }

int main(int argc, char **argv) {
  atexit(handler);
  printf("flushed\n");
  fflush(stdout);
  printf("a line\nand a part");
  write(1, "written\n", 8);
  fprintf(stderr, "stderr is not buffered");
  if (*argv[1] == '1')
    _exit(V == 2 ? 9 : 8);
  _Exit(3);
}
