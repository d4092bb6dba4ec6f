// Tentative definitions with -fcommon: zero, shared inside a version, apart between versions.
//@ cflags: -fcommon
//@ expect: output
#include <stdio.h>

int counter;
int counter;
#if V == 2
long table[64];
int optind_like;
#else
long table[16];
short optind_like;
#endif

static int bump(void) { return ++counter; }

int main(void) {
  for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
    table[i] += bump();
  printf("%d %ld %zu %d\n", counter, table[3], sizeof table, optind_like);
  return 0;
}
