// The pointer equals the buffer, or the byte before it is a newline: the pointer stays on the newline.
//@ klee: difference --sym-args 1 1 4
//@ run: one line
//@ args: ab
//@ run: lines
//@ args: "ab\ncd"
//@ expect-spec: does not hold (version 1 ...PP1(line - buffer) = 3; version 2 ...PP2(line - buffer) = 2)
#define BUG
#include "spec_pointer.c"
