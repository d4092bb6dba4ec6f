// A variable by name in a version without debug info.
//@ merge-error: 2 PP1_VAR(found): the version has no debug info (compile it with -g)
#include <p3.h>
#include <stdio.h>

int main(int argc, char **argv) {
  (void)argv;
  int found = argc;
#if V == 2
  pp_assert(PP1_VAR(int, found) == PP2(found));
#endif
  printf("%d\n", found);
  return 0;
}
