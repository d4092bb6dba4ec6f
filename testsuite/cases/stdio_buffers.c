// How much of the output a stream holds back: FILEs on the standard descriptors have buffers of the size that
// libc chooses for them, and lose what is in those at _exit.
//@ stdout: pipe
//@ run: another FILE
//@ args: d
//@ expect: output
//@ run: opened by name
//@ args: n
//@ expect: output
//@ run: opened anew
//@ args: r
//@ expect: output
//@ run: stderr
//@ args: e
//@ expect: output
//@ run: stderr by lines
//@ args: l
//@ expect: output
//@ run: another FILE on a terminal
//@ stdout: tty
//@ args: d
//@ expect: output
//@ run: stderr on a terminal
//@ stderr: tty
//@ args: e
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  FILE *file = NULL;
  switch (argv[1][0]) {
  case 'd':
    file = fdopen(dup(1), "w");
    break;
  case 'n':
    file = fopen("/dev/stdout", "w");
    break;
  case 'r':
    file = freopen("/dev/stdout", "w", fopen("/dev/null", "r"));
    break;
  case 'e':
    file = stderr;
    setvbuf(stderr, NULL, _IOFBF, 100);
    break;
  case 'l':
    file = stderr;
    setlinebuf(stderr);
    break;
  }
  for (int i = 0; i < 900; i++)
    fprintf(file, "%d word%s", i, i % 7 == 0 ? "\n" : " ");
  for (int i = 0; i < 1500; i++)
    fputs(V == 1 ? "abcd" : "efghi", file);
  write(1, "|\n", 2);
  _exit(0);
}
