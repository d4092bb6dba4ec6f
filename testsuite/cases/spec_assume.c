// Inputs for which an assumption does not hold are of no interest: no check fails.
//@ klee: none --sym-args 1 1 2
//@ run: of interest
//@ args: a
//@ expect-specs: 1/0/0
//@ run: of none
//@ args: -x
//@ expect: output
//@ expect-assumption: fails
//@ expect-specs: 1/1/0
#include <p3.h>
#include <stdio.h>

int main(int argc, char **argv) {
  char first = argc > 1 ? argv[1][0] : 0;
  pp_assume(PP1(first) != '-' && PP2(first) != '-');
  putchar(first == '-' ? '0' + V : 'n');
  putchar('\n');
  return 0;
}
