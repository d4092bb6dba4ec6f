// rand, random and the drand48 family: libc's sequences, from the beginning in every version.
//@ run: same
//@ run: other seeds
//@ args: x
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

static void show(const char *title) {
  printf("%s: %d %ld %d %f %ld %ld\n", title, rand(), random(), rand(), drand48(), lrand48(), mrand48());
}

int main(int argc, char **argv) {
  char small[8], large[256];
  unsigned seed = 5;
  unsigned short words[7] = {1, 2, 3, 4, 5, 6, 7}, other[3] = {9, 8, 7};
  show("unseeded");
  srand(argc > 1 ? V : 7);
  srand48(argc > 1 ? V : -7);
  show("seeded");
  srandom(3);
  char *before = initstate(4, small, sizeof small);
  show("small state");
  initstate(5, large, sizeof large);
  show("large state");
  printf("%d\n", setstate(small) == large);
  show("small again");
  setstate(before);
  show("first again");
  printf("%d\n", initstate(1, small, 7) == NULL);
  unsigned short *old = seed48(other);
  printf("%x %x %x\n", old[0], old[1], old[2]);
  show("seed48");
  lcong48(words);
  show("lcong48");
  printf("%f %ld %ld %d\n", erand48(words), nrand48(words), jrand48(words), rand_r(&seed));
  for (int i = 0; i < 1000; i++)
    random();
  show("later");
  return 0;
}
