// A relation that crashes while it is computed is a failed check, not a version's crash.
//@ run: fine
//@ args: a
//@ expect-specs: 1/0/0
//@ run: null
//@ expect-spec: PP1(*at) == PP2(*at) cannot be computed: signal SEGV
#include <p3.h>
#include <stdio.h>

int main(int argc, char **argv) {
  char *at = argv[1];
  (void)argc;
  pp_assert(PP1(*at) == PP2(*at));
  puts(at ? at : "none");
  return 0;
}
