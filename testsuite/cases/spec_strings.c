// Equal strings after a refactoring: the last component of a path, by a loop and by strrchr; fixed.
//@ klee: none --sym-args 1 1 4
//@ run: plain
//@ args: usr/lib
//@ expect-specs: 1/0/0
//@ run: no slash
//@ args: lib
//@ run: slash at the end
//@ args: usr/lib//
//@ run: only slashes
//@ args: //
#include <p3.h>
#include <stdio.h>
#include <string.h>

static const char *last_component(char *path) {
  char *end = path + strlen(path);
  while (end > path + 1 && end[-1] == '/')
    *--end = 0;
#if V == 1
  char *name = path;
  for (char *at = path; *at; at++)
    if (*at == '/' && at[1])
      name = at + 1;
#else
  char *slash = strrchr(path, '/');
#ifdef BUG
  char *name = slash ? slash + 1 : path;
#else
  char *name = slash && slash[1] ? slash + 1 : path;
#endif
#endif
  pp_assert(strcmp(PP1(name), PP2(name)) == 0);
  return name;
}

int main(int argc, char **argv) {
  if (argc > 1) {
    const char *name = last_component(argv[1]);
    /* Only its length is put out. */
    printf("%d\n", (int)strlen(name) > 1);
  }
  return 0;
}
