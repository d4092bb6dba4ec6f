// Version 1 crashes in lock-step in the middle of its output; the other one goes on. With all kinds of streams.
//@ levels: -O0 -O2
//@ expect: both
//@ stdin: pipe 40*"some words\n" last
//@ run: pipes
//@ run: files
//@ stdin: file 40*"some words\n" last
//@ stdout: file
//@ stderr: file
//@ run: a file read from its middle, an output that is appended to
//@ stdin: file+5 40*"some words\n" last
//@ stdout: append
//@ run: a common stream
//@ stderr: stdout
//@ run: a common file
//@ stdout: file
//@ stderr: stdout
//@ run: terminals
//@ stdin: tty 40*"some words\n" \x04
//@ stdout: tty
//@ run: closed
//@ stdout: closed
//@ run: full
//@ stdout: full
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int *volatile nowhere;

static int words(const char *line) {
  int count = 0;
  for (int i = 0; line[i]; i++)
    count += line[i] != ' ' && (i == 0 || line[i - 1] == ' ');
  return count;
}

int main(void) {
  char line[100];
  int number = 0;
  while (fgets(line, sizeof line, stdin)) {
    number++;
    printf("%d: %d words\n", number, words(line));
    if (number % 3 == 0)
      fflush(stdout);
    if (number % 4 == 0)
      fprintf(stderr, "line %d\n", number);
    if (number == 17 && V == 1)
      *nowhere = 1;
    if (number == 20)
      write(1, "directly\n", 9);
  }
  return ferror(stdout) ? 2 : 3;
}
