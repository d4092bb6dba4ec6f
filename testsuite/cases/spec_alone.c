// Specifications in the newest version only: parameters, globals, static variables, two variables of one name, what
// pointers lead to, converted types.
//@ cflags: -g
//@ levels: -O0
//@ run: equal
//@ expect-specs: 1/0/0 1/0/0 1/0/0 1/0/0 1/0/0 1/0/0 1/0/0
//@ run: another
//@ args: x
//@ expect: output
//@ expect-spec: does not hold (version 1 ...: PP1(list->next->size) = 3; version 2 ...: PP2(list->next->size) = 4)
#include <p3.h>
#include <stdio.h>

struct list {
  int size;
  struct list *next;
  char name[8];
};

int total = 7;
static int hidden = 3;

static int inspect(int parameter, struct list *list, double weight) {
  static int calls;
  calls++;
  hidden += parameter;
  int n = parameter;
  printf("%s\n", list->name);
  {
    int n = 100 + parameter;
    printf("inner\n");
#if V == 2
    pp_assert(PP1_VAR(int, n) == PP2(n) && PP2(n) > 100);
#endif
    printf("%d\n", n);
  }
#if V == 2
  pp_assert(PP1_VAR(int, n) == PP2(n) && PP2(n) < 100);
  pp_assert(PP1_VAR(int, parameter) == PP2(parameter));
  pp_assert(PP1_VAR(int, total) == PP2(total) && PP1_VAR(int, hidden) == PP2(hidden));
  pp_assert(PP1_VAR(long, calls) == PP2(calls));
  pp_assert(PP1_VAR(int, list->next->size) == PP2(list->next->size));
  pp_assert(PP1_VAR(char *, list->next->name)[0] == 'x' && PP1_VAR(char, list->name[1]) == 'b' &&
            PP1_VAR(double, weight) == PP2(weight) && PP1_VAR(struct list, list[0]).size == 1);
#endif
  printf("%d %d %d %g %d\n", calls, n, hidden, weight, list->next->size);
  return n;
}

int main(int argc, char **argv) {
  (void)argv;
  struct list second = {2 + (argc > 1) * V, NULL, "xyz"}, first = {1, &second, "abc"};
  inspect(1, &first, 1.5);
  return 0;
}
