// libc calls back into woven code: qsort with a comparison that differs, bsearch, a signal handler that calls what main
// calls, atexit handlers.
//@ run: same
//@ args: 4 2 9
//@ run: the comparison matters
//@ args: 4 -2 9 -7 2
//@ expect: output
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int comparisons, handled;

static int magnitude(int x) {
  comparisons++;
  return V == 2 && x < 0 ? -x : x;
}

static int compare(const void *a, const void *b) {
  int x = magnitude(*(const int *)a), y = magnitude(*(const int *)b);
  return (x > y) - (x < y);
}

static void handler(int signal) {
  handled += magnitude(signal);
  int few[3] = {3, 1, 2};
  qsort(few, 3, sizeof *few, compare);
  handled += few[0];
}

static void at_end(void) { printf("at the end %d\n", magnitude(handled)); }

static int largest(int *numbers, int count) {
  int best = magnitude(numbers[0]);
  for (int i = 1; i < count; i++) {
    if (i == 2)
      raise(SIGUSR1);
    if (compare(&numbers[i], &best) > 0)
      best = magnitude(numbers[i]);
  }
  return best;
}

int main(int argc, char **argv) {
  int numbers[16], count = argc - 1;
  signal(SIGUSR1, handler);
  atexit(at_end);
  for (int i = 0; i < count; i++)
    numbers[i] = atoi(argv[i + 1]);
  printf("largest %d\n", largest(numbers, count));
  qsort(numbers, count, sizeof *numbers, compare);
  for (int i = 0; i < count; i++)
    printf("%d\n", numbers[i]);
  int *found = bsearch(&numbers[1], numbers, count, sizeof *numbers, compare);
  printf("%d\n", found ? *found : 0);
  return comparisons > 300;
}
