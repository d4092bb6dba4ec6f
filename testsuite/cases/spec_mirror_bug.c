// The buffer mirrors the temporary unless the last character is a digit: a colon is taken for one.
//@ merge: --check spec
//@ klee: difference --sym-args 1 1 3
//@ args: ab:
//@ expect: output
//@ expect-spec: does not hold (version 2 ...PP2(buffer) = "ab:_", PP2(temporary) = "ab:")
#define BUG
#include "spec_mirror.c"
