// program_invocation_name and its aliases, per version and assignable.
//@ run: unchanged
//@ run: changed in the second version
//@ args: x
//@ expect: output
#include <err.h>
#include <errno.h>
#include <error.h>
#include <stdio.h>

extern char *__progname, *__progname_full;

int main(int argc, char **argv) {
  printf("%s %s %s %s\n", program_invocation_name, program_invocation_short_name, __progname, __progname_full);
#if V == 2
  if (argc > 1)
    program_invocation_name = "/else/where";
#endif
  __progname = argv[0] + 2;
  printf("%s %s\n", program_invocation_short_name, __progname_full);
  error(0, 0, "by error");
  warnx("by warnx");
  return 0;
}
