// Without touching the source: what a function returns must be equal, and its arguments.
//@ merge: --assert-equal-returns rank --assert-equal-args half
//@ levels: -O0
//@ run: equal
//@ args: a
//@ expect-specs: 1/0/0 1/0/0
//@ run: results
//@ args: q
//@ expect-spec: --assert-equal-returns rank does not hold (version 1 rank():0, version 2 rank():0)
//@ run: arguments
//@ args: z
//@ expect-spec: --assert-equal-args half does not hold
#include <stdio.h>

static int rank(int c) { return c * (1 + (c == 'q' && V == 2)); }
static int half(int c, const char *text) { return text ? c / 2 : 0; }

int main(int argc, char **argv) {
  int c = argc > 1 ? argv[1][0] : 0;
  int ranked = rank(c);
  printf("%d %d\n", ranked > 0, half(c + (c == 'z' && V == 2), argv[0]) > 0);
  return 0;
}
