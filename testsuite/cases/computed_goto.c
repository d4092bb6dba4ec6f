// Computed goto: a bytecode interpreter with a static table of label addresses.
//@ args: +++*+-p+p
//@ expect: output
#include <stdio.h>

static int interpret(const char *code) {
  static const void *const table[] = {&&add, &&subtract, &&multiply, &&print, &&end};
  static const char letters[] = "+-*p";
  int value = 0;
#define NEXT                                                                                                       \
  do {                                                                                                             \
    int i = 0;                                                                                                     \
    while (letters[i] && letters[i] != *code)                                                                      \
      i++;                                                                                                         \
    code++;                                                                                                        \
    goto *table[i];                                                                                                \
  } while (0)
  NEXT;
add:
  value += V;
  NEXT;
subtract:
  value--;
  NEXT;
multiply:
  value *= 3;
  NEXT;
print:
  printf("%d\n", value);
  NEXT;
end:
  return value;
}

int main(int argc, char **argv) { return interpret(argv[1]) == 12345; }
