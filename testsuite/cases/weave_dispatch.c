// Calls through pointers with many candidates, which are looked up in a table: of all versions the same function, of
// each another one, functions that one version has alone, and one of libc.
//@ versions: 3
//@ args: 0123456789abcdefghij
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

static unsigned trail;

#define STEP(n)                                                                                                        \
  static int step_##n(int value) {                                                                                     \
    trail = trail * 7 + n;                                                                                             \
    return value % (n + 2) ? value + n : value / (n + 2);                                                              \
  }
STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9)
STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15) STEP(16)
#if V == 2
static int own(int value) { return step_3(value) - 1; }
#else
#define own step_3
#endif

static int (*const steps[])(int) = {step_16, step_1, step_2,  own,    step_4,  step_5,  abs,     step_7,  step_8, step_9,
                                    step_10, step_11, step_12, step_13, step_14, step_15, step_0, step_6};

int main(int argc, char **argv) {
  enum { COUNT = sizeof steps / sizeof *steps };
  int value = argc;
  for (const char *s = argv[1]; *s; s++) {
    int index = *s % COUNT;
    // The third version goes another way now and then.
    if (V == 3 && *s == 'c')
      index = (index + 1) % COUNT;
    value = steps[index](value + *s);
  }
  printf("%d %u\n", value, trail);
  return 0;
}
