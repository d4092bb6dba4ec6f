// Mutual recursion through function pointers; tables that differ, pointers to libc's functions, pointers that a
// version has exchanged, and a call through a type that is not the function's.
//@ run: short
//@ args: ab
//@ run: long
//@ args: abcabd
//@ expect: output
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int handler(const char *s, int depth);

static handler on_a, on_b, on_other;
static handler *table[3] = {on_a, on_b, on_other};
static int trail;

static handler *pick(char c) {
  if (V == 2 && c == 'c')
    return table[0];
  return c == 'a' ? table[0] : c == 'b' ? table[1] : table[2];
}

static int on_a(const char *s, int depth) {
  trail = trail * 3 + 1;
  return *s ? 1 + pick(s[1])(s + 1, depth + 1) : depth;
}

static int on_b(const char *s, int depth) {
  trail = trail * 3 + 2;
  handler *next = pick(s[1]);
  if (next == on_b)
    return -1;
  return 2 * next(s + 1, depth + 1);
}

static int on_other(const char *s, int depth) {
  trail *= 3;
  if (!*s)
    return depth;
  if (V == 2 && *s == 'd') {
    handler *first = table[0];
    table[0] = table[1];
    table[1] = first;
  }
  return pick(s[1])(s + 1, depth) + 3;
}

static int twice(int c) { return 2 * c; }
static int once(int c) { return c; }

int main(int argc, char **argv) {
  int (*map[3])(int) = {toupper, V == 1 ? twice : once, V == 1 ? tolower : toupper};
  for (int round = 0; round < 3; round++) {
    int value = pick(argv[1][0])(argv[1], 0);
    printf("%d %d\n", value, trail);
    if (strlen(argv[1]) > 3 || round == 0)
      printf("%d\n", map[round](argv[1][0]));
  }
  long (*wide)(int) = (long (*)(int))abs;
  printf("%d\n", (int)wide(-3));
  return 0;
}
