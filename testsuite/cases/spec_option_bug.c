// The start of a range is unchanged by the new option -z, which leaves out zero: it sets the start, too.
//@ merge: --check spec
//@ klee: difference --sym-args 1 2 2
//@ run: plain
//@ args: 3
//@ run: option
//@ args: -z
//@ expect: output
//@ expect-spec: PP1(start) == PP2(start) does not hold (version 1 ...PP1(start) = 0; version 2 ...PP2(start) = 1)
#define BUG
#include "spec_option.c"
