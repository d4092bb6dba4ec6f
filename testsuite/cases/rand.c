// rand, random, drand48, their seeds and states: glibc's own sequences in every version.
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  printf("%d %ld %f\n", rand(), random(), drand48());
  srand(42);
  for (int i = 0; i < 3 + (V == 2); i++)
    printf("%d ", rand());
  printf("%ld\n", random());
  unsigned seed = 1;
  printf("%d\n", rand_r(&seed));
  srandom(7);
  printf("%ld\n", random());
  static char state[64];
  char *old = initstate(3, state, sizeof state);
  printf("%ld", random());
  setstate(old);
  printf(" %ld\n", random());
  srand48(5);
  printf("%ld %ld %f", lrand48(), mrand48(), drand48());
  unsigned short bits[3] = {1, 2, 3};
  printf(" %f %ld %ld\n", erand48(bits), nrand48(bits), jrand48(bits));
  unsigned short *previous = seed48(bits);
  printf("%hu %ld\n", previous[0], lrand48());
  unsigned short parameters[7] = {1, 2, 3, 4, 5, 6, 7};
  lcong48(parameters);
  printf("%ld\n", lrand48());
  return 0;
}
