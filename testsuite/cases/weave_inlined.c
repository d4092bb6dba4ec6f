// A function inlined by hand in one version, and taken apart into two in the other.
//@ run: plain
//@ args: 12 345
//@ run: negative
//@ args: -12 7
//@ expect: output
//@ run: not a number
//@ args: 1x 3
//@ expect: status
#include <stdio.h>
#include <stdlib.h>

static int errors;

#if V == 1
static int number(const char *s) {
  int value = 0, sign = 1;
  if (*s == '-') {
    sign = -1;
    s++;
  }
  for (; *s; s++) {
    if (*s < '0' || *s > '9') {
      errors++;
      return 0;
    }
    value = 10 * value + *s - '0';
  }
  return sign * value;
}
#endif

static void show(int value) { printf("%d\n", value); }

#if V == 2
static void show_sign(int value) {
  if (value < 0)
    puts("negative");
  show(value);
}
#endif

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
#if V == 1
    show(number(argv[i]));
#else
    const char *s = argv[i];
    int value = 0, sign = 1;
    if (*s == '-') {
      sign = -1;
      s++;
    }
    for (; *s; s++) {
      if (*s < '0' || *s > '9') {
        errors += 2;
        value = 0;
        break;
      }
      value = 10 * value + *s - '0';
    }
    show_sign(sign * value);
#endif
  }
  return errors;
}
