// The new count is the old one less one: the header line of a table is still counted if it is alone.
//@ merge: --check spec
//@ klee: difference --sym-args 1 1 2
//@ run: two
//@ args: "a;b;c"
//@ expect: output
//@ run: header only
//@ args: "a"
//@ expect-spec: PP1(count) == 0 || PP2(count) == PP1(count) - 1 does not hold (version 1 ...PP1(count) = 1; version 2 ...PP2(count) = 1)
#define BUG
#include "spec_count.c"
