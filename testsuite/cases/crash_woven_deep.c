// Crashes in lock-step deep inside calls, in functions that libc calls, before main and after it.
//@ levels: -O0 -O2
//@ expect: both
//@ run: recursion
//@ args: r
//@ run: indirectly
//@ args: i
//@ run: qsort
//@ args: q
//@ run: atexit
//@ args: a
//@ run: while a loop has diverged
//@ args: l
//@ run: before main
//@ env: EARLY=1
//@ args: e
#include <stdio.h>
#include <stdlib.h>

static int *volatile nowhere;

static void crash(void) {
  if (V == 1)
    *nowhere = 1;
}

static int fold(int depth, int value) {
  printf("depth %d\n", depth);
  if (depth == 0) {
    crash();
    return value;
  }
  return depth % 2 ? fold(depth - 1, value + 1) : fold(depth - 1, value * 2) + 1;
}

static int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  printf("%d ", x < y ? x : y);
  if (x == 7 || y == 7)
    crash();
  return x - y;
}

static void late(void) {
  puts("late");
  fflush(stdout);
  crash();
  puts("later");
}

__attribute__((constructor)) static void early(void) {
  puts("early");
  if (getenv("EARLY"))
    crash();
}

static int (*volatile chosen)(int, int) = fold;

int main(int argc, char **argv) {
  int numbers[] = {5, 3, 9, 7, 1, 8};
  printf("main %d\n", argc);
  fflush(stdout);
  switch (argv[1][0]) {
  case 'r':
    printf("%d\n", fold(50, 1));
    break;
  case 'i':
    printf("%d\n", chosen(9, 2));
    break;
  case 'q':
    qsort(numbers, 6, sizeof *numbers, compare);
    for (int i = 0; i < 6; i++)
      printf("%d\n", numbers[i]);
    break;
  case 'a':
    atexit(late);
    break;
  case 'l':
    for (int i = 0; i < 10 * V; i++) {
      printf("%d of many\n", i);
      if (i == 4)
        crash();
    }
    break;
  }
  puts("end");
  return 4;
}
