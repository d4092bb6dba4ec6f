// A version limits its processor time and uses more: it ends by the signal, and the others go on.
//@ expect: both
#include <stdio.h>
#include <sys/resource.h>

volatile unsigned long turns;

int main(void) {
  printf("begin\n");
  fflush(stdout);
  if (V == 2) {
    struct rlimit limit = {1, 3};
    if (setrlimit(RLIMIT_CPU, &limit) != 0)
      return 1;
    for (;;)
      turns++;
  }
  printf("end\n");
  return 0;
}
