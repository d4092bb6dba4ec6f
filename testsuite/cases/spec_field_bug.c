// An equal integer field: options of a string, once by comparisons and once by a table, which takes the number behind
// any option.
//@ klee: difference --sym-args 1 1 3
//@ run: width
//@ args: w7
//@ run: hyphens
//@ args: h
//@ expect-spec: does not hold (version 1 ...PP1(layout->width) = 72...; version 2 ...PP2(layout->width) = 72...)
//@ expect-specs: 1/1/0
#define BUG
#include "spec_field.c"
