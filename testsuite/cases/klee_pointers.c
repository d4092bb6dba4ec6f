// Calls through a pointer that depends on the input, with more candidates than dispatchers compare one after the other: as
// many paths as alone. Looked up with a hash of the pointer or in a search it did not end.
//@ args: adbg
//@ klee: paths-equal --sym-arg 2
typedef int step(int);

#define STEP(name, next)                                                                                               \
  static int name(int value) { return next; }
STEP(add, value + 1)
STEP(twice, value * 2)
STEP(negate, -value)
STEP(half, value / 2)
STEP(low, value & 7)
STEP(set, value | 16)
STEP(square, value *value)
STEP(less, value - 3)
STEP(flip, value ^ 5)
STEP(clear, 0)
STEP(high, value << 2)
STEP(same, value)

static step *const steps[] = {add, twice, negate, half, low, set, square, less, flip, clear, high, same};

int main(int argc, char **argv) {
  int value = argc;
  for (const char *c = argv[1]; *c; c++) {
    unsigned index = (unsigned)(*c - 'a');
    if (index < sizeof steps / sizeof *steps)
      value = steps[index](value);
  }
  return value & 3;
}
