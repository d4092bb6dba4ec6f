// A return out of a loop in a helper that one version has moved in front of the loop's work, in a caller's loop.
//@ run: not found
//@ args: abc x
//@ run: found late
//@ args: abc c
//@ expect: output
//@ run: found at once
//@ args: abc a
//@ expect: output
//@ run: empty
//@ args: "" a
#include <stdio.h>
#include <string.h>

static char trace[256];
static int length;

static void note(char c) { trace[length++] = c; }

static int find(const char *text, char wanted) {
  for (int i = 0; text[i]; i++) {
#if V == 2
    if (text[i] == wanted)
      return i;
#endif
    note(text[i]);
    if (length > 200)
      return -2;
#if V == 1
    if (text[i] == wanted)
      return i;
#endif
  }
  note('.');
  return -1;
}

int main(int argc, char **argv) {
  int sum = 0;
  for (int round = 0; round < 3; round++) {
    int at = find(argv[1] + (strlen(argv[1]) >= 3 ? round : 0), argv[2][0]);
    note('0' + at % 10 + 1);
    sum = 10 * sum + at;
  }
  printf("%s %d\n", trace, sum);
  return 0;
}
