// Buffering modes decide what is lost at _exit and in which order two streams' bytes arrive.
//@ stderr: stdout
//@ run: full
//@ args: f
//@ run: line
//@ args: l
//@ run: none
//@ args: n
//@ expect: output
//@ run: own buffer
//@ args: o
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  static char buffer[16];
  switch (argv[1][0]) {
  case 'f':
    setvbuf(stdout, NULL, _IOFBF, 4096);
    break;
  case 'l':
    setlinebuf(stdout);
    break;
  case 'n':
    setbuf(stdout, NULL);
    break;
  case 'o':
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    break;
  }
  setvbuf(stderr, NULL, _IOFBF, 1024);
  printf("one\ntwo");
  fprintf(stderr, "error\n");
  printf("three three three\nfour");
  fflush(stderr);
  if (V == 2 && argv[1][0] == 'n')
    putchar('!');
  _exit(0);
}
