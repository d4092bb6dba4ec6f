// A continue that skips more of the loop in one version; do-while and for, whose continue goes elsewhere.
//@ run: nothing skipped
//@ args: 1 3 5
//@ run: skipped
//@ args: 1 4 5 6 2
//@ expect: output
//@ run: all skipped
//@ args: 2 4 6
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

static unsigned hash = 7;

static unsigned mix(unsigned x) { return hash = hash * 31 + x; }

int main(int argc, char **argv) {
  int kept = 0;
  for (int i = 1; i < argc; i++, mix(i)) {
    int x = atoi(argv[i]);
#if V == 2
    if (x % 2 == 0)
      continue;
#endif
    mix(100 + x);
#if V == 1
    if (x % 2 == 0)
      continue;
#endif
    kept++;
  }
  int i = 0;
  do {
    i++;
#if V == 1
    if (i < argc && argv[i][0] == '4')
      continue;
#endif
    mix(i);
#if V == 2
    if (i < argc && argv[i][0] == '4')
      continue;
#endif
    mix(kept);
  } while (i < argc);
  printf("%d %u\n", kept, hash);
  return 0;
}
