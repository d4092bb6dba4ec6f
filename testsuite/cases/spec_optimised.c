// So is one that the compiler has optimised away.
//@ cflags: -g -O2
//@ levels: -O2
//@ merge-error: 2 PP1_VAR(found): 'found' has been optimised away at spec_optimised.c:
#include <p3.h>
#include <stdio.h>

int main(int argc, char **argv) {
#if V == 1
  int found = 0;
  for (int i = 0; i < argc; i++)
    found += argv[i][0] == 'x';
#else
  int found = argc;
#endif
  puts("middle");
#if V == 2
  pp_assert(PP1_VAR(int, found) == PP2(found));
#endif
  puts("end");
  return 0;
}
