// A chain of ifs turned into a switch, with one case that falls through.
//@ run: known
//@ args: a b c
//@ run: unknown
//@ args: z a y
//@ run: falls through
//@ args: a d b
//@ expect: output
//@ run: ends
//@ args: b q a
//@ expect: status
#include <stdio.h>
#include <stdlib.h>

static int value = 1;

static void show(const char *what) { printf("%s %d\n", what, ++value); }

static void act(char c) {
#if V == 1
  if (c == 'a')
    show("first");
  else if (c == 'b')
    value *= 2;
  else if (c == 'c')
    value += 10;
  else if (c == 'd')
    show("fourth");
  else if (c == 'q')
    exit(value);
  else
    show("other");
#else
  switch (c) {
  case 'q':
    exit(value + 1);
  case 'd':
    show("fourth");
  case 'c':
    value += 10;
    break;
  case 'b':
    value *= 2;
    break;
  case 'a':
    show("first");
    break;
  default:
    show("other");
  }
#endif
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    act(argv[i][0]);
  printf("%d\n", value);
  return 0;
}
