// Operands of other types in each version, and of all kinds; the relation is computed with the widest types.
//@ run: equal
//@ args: 5
//@ expect-specs: 1/0/0 1/0/0 1/0/0 1/0/0 1/0/0 1/0/0 1/0/0 1/0/0
//@ run: too large for the first
//@ args: 4294967301
//@ expect: output
//@ expect-spec: PP1(number) == PP2(number) does not hold (...PP1(number) = 5;...PP2(number) = 4294967301)
#include <p3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum colour { RED, GREEN };
struct item {
  unsigned low : 3;
  signed high : 5;
  char name[20];
  double weight;
};

#if V == 1
typedef int number_t;
typedef float real_t;
#else
typedef long number_t;
typedef double real_t;
#endif

static struct item make(int seed) {
  struct item item = {.low = 5, .high = -3, .weight = seed / 4.0};
  strcpy(item.name, "thing");
  return item;
}

int main(int argc, char **argv) {
  number_t number = argc > 1 ? (number_t)strtol(argv[1], NULL, 10) : 0;
  struct item item = make(5);
  struct item *at = &item;
  real_t real = (real_t)(number + 0.5);
  enum colour colour = number & 1 ? GREEN : RED;
  unsigned char small = (unsigned char)number;
  int values[3] = {1, 2, (int)number};
  pp_assert(PP1(number) == PP2(number));
  pp_assert(PP1(at->low) == PP2(at->low) && PP1(at->high) == PP2(at->high) && PP2(item.high) == -3);
  pp_assert(strcmp(PP1(at->name), PP2(item.name)) == 0 && memcmp(PP1(values), PP2(values), sizeof values) == 0);
  pp_assert(PP1(*at).weight == PP2(item).weight && PP1(item).name[1] == 'h');
  pp_assert(PP1(real) == PP2(real) && PP1(colour) == PP2(colour));
  pp_assert(PP1(small) - 1 == PP2(small - 1) && PP1(values[2]) == PP2(values)[2]);
  pp_assert(PP1(argv) != PP2(argv) && PP1(argc) == PP2(argc));
  pp_assert(PP1(make(4)).weight == PP2(make(4).weight) || PP1(*(int *)0) == 1);
  printf("%ld %s %g\n", (long)number, item.name, (double)real);
  return 0;
}
