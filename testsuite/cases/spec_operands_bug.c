// New argv[1], argv[2] equal old first.value, last.value: the second operand is replaced by the end of the first.
//@ cflags: -g
//@ klee: difference --sym-args 2 2 1
//@ args: 3 4
//@ expect-spec: does not hold (version 1 ...PP1(first.value) = "3", PP1(last.value) = "4"; version 2 ...PP2(argv[1]) = "3", PP2(argv[2]) = "3")
#define BUG
#include "spec_operands.c"
