// A loop split in two, so that the order of its effects changes.
//@ run: none
//@ run: one
//@ args: 5
//@ run: several
//@ args: 5 8 2 11
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int sum = 0, largest = 0, numbers[16], count = 0;
#if V == 1
  for (int i = 1; i < argc; i++) {
    int x = atoi(argv[i]);
    printf("read %d\n", x);
    numbers[count++] = x;
    sum += x;
    if (x > largest)
      largest = x;
    printf("sum %d\n", sum);
  }
#else
  for (int i = 1; i < argc; i++) {
    int x = atoi(argv[i]);
    printf("read %d\n", x);
    numbers[count++] = x;
  }
  for (int i = 0; i < count; i++) {
    sum += numbers[i];
    if (numbers[i] > largest)
      largest = numbers[i];
    printf("sum %d\n", sum);
  }
#endif
  printf("%d %d %d\n", sum, largest, count ? numbers[count - 1] : 0);
  return 0;
}
