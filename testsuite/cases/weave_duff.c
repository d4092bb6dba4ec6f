// Duff's device: a switch into the middle of a loop, in one version of four steps, in the other of eight.
//@ run: few
//@ args: abc
//@ run: four
//@ args: abcd
//@ run: many
//@ args: abcdefghijklmnopq
//@ run: a difference in what is copied
//@ args: abc#efgh#jk
//@ expect: output
#include <stdio.h>
#include <string.h>

static int steps;

static char copied(char c) {
  steps++;
  return V == 2 && c == '#' ? '+' : c;
}

static void copy(char *to, const char *from, int count) {
  if (count == 0)
    return;
#if V == 1
  int rounds = (count + 3) / 4;
  switch (count % 4) {
  case 0:
    do {
      *to++ = copied(*from++);
    case 3:
      *to++ = copied(*from++);
    case 2:
      *to++ = copied(*from++);
    case 1:
      *to++ = copied(*from++);
    } while (--rounds > 0);
  }
#else
  int rounds = (count + 7) / 8;
  switch (count % 8) {
  case 0:
    do {
      *to++ = copied(*from++);
    case 7:
      *to++ = copied(*from++);
    case 6:
      *to++ = copied(*from++);
    case 5:
      *to++ = copied(*from++);
    case 4:
      *to++ = copied(*from++);
    case 3:
      *to++ = copied(*from++);
    case 2:
      *to++ = copied(*from++);
    case 1:
      *to++ = copied(*from++);
    } while (--rounds > 0);
  }
#endif
}

int main(int argc, char **argv) {
  char to[64] = {0};
  int n = strlen(argv[1]);
  for (int count = 0; count <= n; count++) {
    memset(to, '.', 40);
    copy(to + 1, argv[1], count);
    printf("%.*s %d\n", n + 2, to, steps);
  }
  return 0;
}
