// Relations of three and four versions: base, two patches, and, with four, their merge.
//@ versions: 3 4
//@ cflags: -g
//@ run: equal
//@ expect-specs: 1/0/0 1/0/0 1/0/0
#include <p3.h>
#include <stdio.h>

int main(int argc, char **argv) {
  (void)argv;
  int merged = argc * 10 + (V == 2 || V == 4) + 2 * (V == 3 || V == 4);
  puts("begin");
  pp_assert(PP1(merged) == PP2(merged) - 1 && PP1(merged) == PP3(merged) - 2);
#if V == 3
  pp_assert(PP1_VAR(int, merged) + PP2_VAR(int, merged) == 2 * PP3(merged) - 3);
#endif
  puts("middle");
  pp_assert(PP2(argc) == PP3(argc));
  puts("end");
  return 0;
}
