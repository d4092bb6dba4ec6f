// Rounding mode and exception flags.
//@ link: -lm
//@ cflags: -frounding-math
//@ run: same
//@ run: the second version does not round up
//@ args: x
//@ expect: output
#include <fenv.h>
#include <math.h>
#include <stdio.h>

int main(int argc, char **argv) {
  volatile double one = 1, three = 3, zero = 0;
  printf("%d %d\n", fegetround() == FE_TONEAREST, fetestexcept(FE_ALL_EXCEPT));
  printf("%.20f %.1f\n", one / three, rint(2.5));
  if (argc == 1 || V == 1)
    fesetround(FE_UPWARD);
  printf("%.20f %.1f %d\n", one / three, rint(2.4), fetestexcept(FE_INEXACT) != 0);
  volatile double infinite = one / zero;
  printf("%f %d\n", infinite, fetestexcept(FE_DIVBYZERO) != 0);
  return 0;
}
