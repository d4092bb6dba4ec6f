// setjmp and longjmp: error recovery over several frames, a value of 0, a jump out of a callback, and exit after.
//@ args: 3 0 x 4
//@ expect: both
#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf recover;

static int parse(const char *text) {
  if (!isdigit((unsigned char)*text))
    longjmp(recover, 0);
  if (*text == '0')
    longjmp(recover, 10 + V);
  return *text - '0';
}

static int compare(const void *a, const void *b) {
  if (*(const char *)a == 'q')
    longjmp(recover, 99);
  return *(const char *)a - *(const char *)b;
}

int main(int argc, char **argv) {
  volatile int sum = 0, index = 1;
  for (; index < argc; index++) {
    int error = setjmp(recover);
    if (error) {
      printf("%s: error %d\n", argv[index], error);
      continue;
    }
    sum += 100 / parse(argv[index]);
  }
  printf("sum %d\n", sum);
  char letters[] = "qwe";
  int value = setjmp(recover);
  if (value == 0)
    qsort(letters, 3, 1, compare);
  printf("out of qsort %d\n", value);
  exit(value + V);
}
