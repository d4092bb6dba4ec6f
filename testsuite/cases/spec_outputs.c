// pp_output: what counts as output. pp_input: the same bytes for every version, natively from P3_INPUT.
//@ run: marked alike
//@ args: 4
//@ expect: output
//@ expect-outputs: same
//@ run: marked otherwise
//@ args: 5
//@ expect: output
//@ expect-outputs: differ
//@ expect-check: output: 'sum' of version 2 ...differs from version 1 ...at byte 0
#include <p3.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0, sum = n;
#if V == 2
  sum += n == 5;
#endif
  pp_output("sum", &sum, sizeof sum);
  pp_output("n", &n, sizeof n);
  char bytes[4] = "abc";
  pp_input(bytes, sizeof bytes, "bytes");
  printf("version %d: %d %s\n", V, sum, bytes);
  return 0;
}
