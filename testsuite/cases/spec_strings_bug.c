// Equal strings after a refactoring: the last component of a path, by a loop and by strrchr; a path that is a
// slash becomes empty, which the output does not show.
//@ klee: difference --sym-args 1 1 3
//@ run: plain
//@ args: usr/lib
//@ run: a slash
//@ args: /
//@ expect-spec: strcmp(PP1(name), PP2(name)) == 0 does not hold (version 1 ...PP1(name) = "/"; version 2 ...PP2(name) = "")
//@ expect-specs: 1/1/0
#define BUG
#include "spec_strings.c"
