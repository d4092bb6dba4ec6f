// A variable by name that the old version does not have is an error of the merge.
//@ cflags: -g
//@ merge-error: 2 spec_missing.c:13: PP1_VAR(found): there is no variable 'found' at spec_missing.c:15
#include <p3.h>
#include <stdio.h>

int main(int argc, char **argv) {
  (void)argv;
#if V == 1
  int seen = argc;
#else
  int found = argc;
  pp_assert(PP1_VAR(int, found) == PP2(found));
#endif
  puts("end");
  return 0;
}
