// A function of more than 2,000 blocks, of which one version has four changed ones.
//@ run: through
//@ args: 0
//@ run: the first change
//@ args: 100
//@ expect: output
//@ run: all
//@ args: 255
//@ expect: output
//@ timeout: 60
#include <stdio.h>
#include <stdlib.h>

#define CHANGED(a, b, c, d) (V == 2 && a == 2 && b == 5 && c == d)

static unsigned hits;

static int note(unsigned x) {
  hits = hits * 17 + x;
  return hits % 5 == 0;
}

// Three blocks each, one of them with a call.
#define STEP(a, b, c, d)                                                                                        \
  if (x & (1u << ((a + b + c + d) % 8)))                                                                        \
    y += CHANGED(a, b, c, d) ? 7 : 64 * a + 16 * b + 4 * c + d;                                                 \
  if (y % (3 + d) == 1)                                                                                         \
    x ^= note(y + c);

#define STEPS4(a, b, c) STEP(a, b, c, 0) STEP(a, b, c, 1) STEP(a, b, c, 2) STEP(a, b, c, 3)
#define STEPS16(a, b) STEPS4(a, b, 0) STEPS4(a, b, 1) STEPS4(a, b, 2) STEPS4(a, b, 3)
#define STEPS128(a)                                                                                             \
  STEPS16(a, 0) STEPS16(a, 1) STEPS16(a, 2) STEPS16(a, 3) STEPS16(a, 4) STEPS16(a, 5) STEPS16(a, 6) STEPS16(a, 7)

static unsigned long_function(unsigned x) {
  unsigned y = 1;
  STEPS128(0) STEPS128(1) STEPS128(2) STEPS128(3)
  return y;
}

int main(int argc, char **argv) {
  unsigned x = atoi(argv[1]);
  printf("%u %u\n", long_function(x), hits);
  printf("%u %u\n", long_function(x / 2), x == 0 ? 0 : hits);
  return 0;
}
