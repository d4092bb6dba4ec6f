// A relation between a variable of two versions, in both sources alike.
//@ klee: difference --sym-args 1 1 4
//@ run: one digit
//@ args: a1
//@ expect-specs: 1/0/0
//@ run: two digits
//@ args: a12
//@ expect: output
//@ expect-spec: p3: spec: spec_found.c:...: PP1(found) == PP2(found) does not hold (version 1 spec_found.c:...: PP1(found) = 1; version 2 spec_found.c:...: PP2(found) = 0)
//@ expect-specs: 1/1/0
#include <p3.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int found = 0;
  for (char *at = argv[1]; argc > 1 && *at; at++)
    if (*at >= '0' && *at <= '9') {
#if V == 1
      found = 1;
#else
      found ^= 1;
#endif
    }
  pp_assert(PP1(found) == PP2(found));
  puts(found ? "yes" : "no");
  return 0;
}
