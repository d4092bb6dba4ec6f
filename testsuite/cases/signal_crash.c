// Crashes: segmentation fault, division by zero, illegal instruction. Only the version that does it ends.
//@ run: segv in both
//@ args: s
//@ run: fpe in both
//@ args: f
//@ run: ill in both
//@ args: i
//@ run: segv in the second
//@ args: S
//@ expect: both
//@ run: fpe in the first
//@ args: F
//@ expect: both
#include <stdio.h>
#include <stdlib.h>

static int *volatile nowhere;
static volatile int zero;

int main(int argc, char **argv) {
  int both = argv[1][0] >= 'a', letter = argv[1][0] | 0x20;
  fprintf(stderr, "start\n");
  printf("lost");
  if (letter == 's' && (both || V == 2))
    *nowhere = 1;
  if (letter == 'f' && (both || V == 1)) {
    int quotient;
    __asm__ volatile("cltd; idivl %1" : "=a"(quotient) : "r"(zero), "0"(7) : "edx", "cc");
    return quotient;
  }
  if (letter == 'i')
    __builtin_trap();
  puts(" not");
  return 0;
}
