// 30 MB of output, with a difference near the end, and a second stream meanwhile.
//@ run: equal
//@ levels: -O2
//@ run: different
//@ args: x
//@ expect: output
//@ expect-check: p3: ...29000008...
#include <stdio.h>

int main(int argc, char **argv) {
  for (int i = 0; i < 3000000; i++) {
    printf("%09d\n", V == 2 && argc > 1 && i == 2900000 ? i + 1 : i);
    if (i % 1000000 == 0)
      fprintf(stderr, "%d\n", i);
  }
  return 0;
}
