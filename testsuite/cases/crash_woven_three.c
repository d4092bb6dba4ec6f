// Three versions in lock-step crash at different places, or only some of them do.
//@ versions: 3
//@ levels: -O1
//@ expect: both
//@ stdin: pipe 500*"abc\n"
//@ run: the second
//@ args: - 100 -
//@ run: the first and the last
//@ args: 300 - 20
//@ run: all
//@ args: 30 20 10
//@ expect: output
//@ run: all at once
//@ args: 10 10 10
//@ expect: none
//@ run: one that has ended already
//@ args: 10 - +
#include <stdio.h>
#include <stdlib.h>

static int *volatile nowhere;

int main(int argc, char **argv) {
  int when = argv[V][0] == '-' ? -1 : atoi(argv[V]);
  if (argv[V][0] == '+')
    exit(9);
  int c, lines = 0, sum = 0;
  while ((c = getchar()) != EOF) {
    sum = sum * 31 + c;
    if (c != '\n')
      continue;
    printf("%d %d\n", ++lines, sum);
    if (lines % 7 == 0)
      fflush(stdout);
    if (lines == when)
      *nowhere = 1;
  }
  return 0;
}
