// New argv[1], argv[2] equal old first.value, last.value: the operands of a range are used where they are now, and not
// copied. The specification is in the new version only; fixed.
//@ cflags: -g
//@ klee: none --sym-args 2 2 2
//@ run: two
//@ args: 3 12
//@ expect-specs: 1/0/0
//@ run: empty
//@ args: "" 7
#include <p3.h>
#include <stdio.h>
#include <string.h>

struct operand {
  int length;
  char value[12];
};

static int digits(const char *text) {
  int all = 1;
  for (; *text; text++)
    all &= *text >= '0' && *text <= '9';
  return all;
}

#if V == 1
static void read_operand(struct operand *operand, const char *text) {
  operand->length = 0;
  while (text[operand->length] && operand->length < 11) {
    operand->value[operand->length] = text[operand->length];
    operand->length++;
  }
  operand->value[operand->length] = 0;
}
#endif

int main(int argc, char **argv) {
  if (argc != 3)
    return 1;
#if V == 1
  struct operand first, last;
  read_operand(&first, argv[1]);
  read_operand(&last, argv[2]);
  puts("range");
  printf("%d\n", digits(first.value) & digits(last.value));
#else
#ifdef BUG
  argv[2] = argv[1] + strlen(argv[1]) / 2;
#endif
  puts("range");
  pp_assert(strcmp(PP1_VAR(char *, first.value), PP2(argv[1])) == 0 &&
            strcmp(PP1_VAR(char *, last.value), PP2(argv[2])) == 0);
  printf("%d\n", digits(argv[1]) & digits(argv[2]));
#endif
  return 0;
}
