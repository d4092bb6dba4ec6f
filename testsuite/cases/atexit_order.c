// atexit handlers: last registered first, one registered by another, one function twice, output of each.
//@ run: return
//@ expect: output
//@ run: exit
//@ args: exit
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

static int calls;

static void late(void) { printf("late %d\n", ++calls); }
static void first(void) { printf("first %d\n", ++calls); }
static void second(void) {
  printf("second %d\n", ++calls);
  atexit(late);
}
static void deep(int n) {
  if (n > 0)
    deep(n - 1);
  else
    exit(5);
  puts("never printed");
}

int main(int argc, char **argv) {
  atexit(first);
  atexit(second);
  atexit(first);
  if (V == 2)
    atexit(second);
  printf("main ends");
  if (argc > 1)
    deep(3);
  return 5;
}
