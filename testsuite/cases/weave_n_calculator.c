// Three, four and eight versions of a recursive calculator that ends at errors from any depth: the bits of V - 1 are
// patches.
//@ versions: 4 3 8
//@ run: fine
//@ args: 1+2*(3-4)
//@ run: division by zero
//@ args: (1+2)/0*5
//@ expect: both
//@ run: missing parenthesis
//@ args: ((2*3)+1
//@ expect: both
//@ run: both
//@ args: 6/(3-3
//@ expect: both
#include <stdio.h>
#include <stdlib.h>

#define PATCH_A ((V - 1) & 1)
#define PATCH_B ((V - 1) & 2)
#define PATCH_C ((V - 1) & 4)

static const char *at;

static void fail(const char *what, int status) {
  fprintf(stderr, "%s at '%s'\n", what, at);
  exit(status);
}

static long sum(void);

static long atom(void) {
  if (*at == '(') {
    at++;
    long value = sum();
    if (*at == ')')
      at++;
    else if (!PATCH_B)
      fail("missing parenthesis", 2);
    return value;
  }
  if (*at < '0' || *at > '9')
    fail("no number", 3);
#if PATCH_C
  char *end;
  long value = strtol(at, &end, 10);
  at = end;
#else
  long value = 0;
  while (*at >= '0' && *at <= '9')
    value = 10 * value + *at++ - '0';
#endif
  return value;
}

static long product(void) {
  long value = atom();
  while (*at == '*' || *at == '/') {
    char sign = *at++;
    long other = atom();
    if (sign == '*') {
      value *= other;
    } else if (other == 0) {
      if (PATCH_A)
        fail("division by zero", 4);
      value = 0;
    } else {
      value /= other;
    }
  }
  return value;
}

static long sum(void) {
  long value = product();
  while (*at == '+' || *at == '-') {
    char sign = *at++;
    long other = product();
    value = sign == '+' ? value + other : value - other;
  }
  return value;
}

int main(int argc, char **argv) {
  at = argv[1];
  long value = sum();
  if (*at)
    fail("rest", 5);
  printf("%ld\n", value);
  return 0;
}
