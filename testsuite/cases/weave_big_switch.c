// A switch of 500 cases to which one version adds three: at the beginning, in the middle and at the end.
//@ run: old cases
//@ args: 10 250 509 17 7
//@ run: new cases
//@ args: 10 3 260 999 17
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

static int total;

static int weigh(int x) { return total += x % 11; }

// Some cases share a target, some fall through, most have code of their own.
#define ONE(n)                                                                                                  \
  case 10 + n:                                                                                                  \
    result += n % 7 == 3 ? weigh(n) : 3 * n;                                                                    \
    if (n % 9 == 4)                                                                                             \
      goto shared;                                                                                              \
    if (n % 13 != 5)                                                                                            \
      break;
#define TEN(n)                                                                                                  \
  ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3) ONE(n + 4) ONE(n + 5) ONE(n + 6) ONE(n + 7) ONE(n + 8) ONE(n + 9)
#define FIFTY(n) TEN(n) TEN(n + 10) TEN(n + 20) TEN(n + 30) TEN(n + 40)
#define HUNDREDS(n) FIFTY(n) FIFTY(n + 50)

static int classify(int x) {
  int result = 1;
  switch (x % 1000) {
#if V == 2
  case 3:
    result += weigh(5);
    break;
#endif
    HUNDREDS(0)
    HUNDREDS(100)
#if V == 2
  case 100000:
  case 998:
    result = 4;
    break;
#endif
    HUNDREDS(200)
    HUNDREDS(300)
    HUNDREDS(400)
#if V == 2
  case 999:
    result += weigh(9);
#endif
  default:
    result++;
  shared:
    result *= 2;
  }
  return result;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    printf("%d\n", classify(atoi(argv[i])));
  if (total % 2 == 0 || argc > 4)
    printf("%d\n", total);
  return 0;
}
