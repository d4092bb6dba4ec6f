// The start of a range is unchanged by the new option -z, which leaves out zero; fixed.
//@ merge: --check spec
//@ klee: none --sym-args 1 2 2
//@ run: plain
//@ args: 3
//@ expect-specs: 1/0/0
//@ run: option
//@ args: -z 2
//@ expect: output
//@ expect-specs: 1/0/0
//@ run: negative
//@ args: -4
#include <p3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number(const char *text) {
  int negative = *text == '-', value = 0;
  for (text += negative; *text >= '0' && *text <= '9'; text++)
    value = value * 10 + *text - '0';
  return negative ? -value : value;
}

int main(int argc, char **argv) {
  int zero = 1, start = 0;
  for (int i = 1; i < argc; i++) {
#if V == 2
    if (strcmp(argv[i], "-z") == 0) {
      zero = 0;
#ifdef BUG
      start = 1;
#endif
      continue;
    }
#endif
    if (argv[i][0] == '-' && argv[i][1] == 'z')
      continue;
    start = number(argv[i]);
  }
  pp_assert(PP1(start) == PP2(start));
  if (start || zero)
    printf("from %d\n", start > 1 ? 2 : 1);
  printf("%s\n", zero ? "all" : "positive");
  return 0;
}
