// The new count is the old one less one: the header line of a table is not counted any more; fixed.
//@ merge: --check spec
//@ klee: none --sym-args 1 1 4
//@ run: two
//@ args: "a;b;c"
//@ expect: output
//@ expect-specs: 1/0/0
//@ run: header only
//@ args: "a"
//@ expect: output
//@ run: nothing
//@ args: ""
//@ expect-specs: 1/0/0
#include <p3.h>
#include <stdio.h>

int main(int argc, char **argv) {
  const char *text = argc > 1 ? argv[1] : "";
  unsigned count = 0;
  if (*text)
    count++;
  for (const char *at = text; *at; at++)
    if (*at == ';')
      count++;
#if V == 2
#ifdef BUG
  if (count > 1)
#else
  if (count)
#endif
    count--;
#endif
  pp_assert(PP1(count) == 0 || PP2(count) == PP1(count) - 1);
  printf("%u\n", count);
  return 0;
}
