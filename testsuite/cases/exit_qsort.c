// exit from inside a callback of qsort, and from one of bsearch.
//@ run: sorts
//@ args: 5 3 9 1
//@ run: exits in qsort
//@ args: 5 3 -1 9
//@ expect: status
//@ run: exits in bsearch
//@ args: 5 3 9 77
//@ expect: none
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  if (x < 0 || y < 0) {
    printf("negative");
    exit(V == 2 ? 4 : 3);
  }
  return (x > y) - (x < y);
}

static int find(const void *key, const void *element) {
  if (*(const int *)key == 77) {
    puts("found the one to stop at");
    exit(0);
  }
  return compare(key, element);
}

int main(int argc, char **argv) {
  int numbers[16], count = argc - 1;
  for (int i = 0; i < count; i++)
    numbers[i] = atoi(argv[i + 1]);
  qsort(numbers, count, sizeof *numbers, compare);
  for (int i = 0; i < count; i++)
    printf("%d\n", numbers[i]);
  int *found = bsearch(&numbers[count - 1], numbers, count, sizeof *numbers, find);
  printf("%d\n", *found);
  return 0;
}
