// The ways to crash in lock-step, in one version or in all of them, at one place or at different ones.
//@ levels: -O0 -O2
//@ stdin: pipe "0 1 2 3 4 5 6 7 8 9"
//@ expect: both
//@ run: null in 1
//@ args: n 3 -
//@ run: null in 2
//@ args: n - 3
//@ run: division in 1
//@ args: d 3 -
//@ run: division in 2 as the last thing
//@ args: d - 9
//@ run: stack in 1
//@ args: s 3 -
//@ run: stack in 2
//@ args: s - 4
//@ run: double free in 1
//@ args: f 3 -
//@ run: double free in 2
//@ args: f - 0
//@ run: bad free in 1
//@ args: b 3 -
//@ run: trap in 1
//@ args: t 3 -
//@ run: bus error in 1
//@ args: m 3 -
//@ run: inside libc in 1
//@ args: l 3 -
//@ run: inside libc in 2
//@ args: l - 3
//@ run: 1 before 2
//@ args: n 2 5
//@ expect: output
//@ run: 2 before 1
//@ args: d 7 1
//@ expect: output
//@ run: both at once
//@ args: s 4 4
//@ expect: none
//@ run: both free
//@ args: f 4 4
//@ expect: none
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int *volatile nowhere;
static volatile int zero;

static int deep(volatile int *below) {
  volatile int room[1000];
  room[0] = below[0] + 1;
  return deep(room) + room[0];
}

static void crash(char kind) {
  char *volatile block = malloc(40), *volatile inside = block + 8;
  char name[] = "crash-XXXXXX";
  switch (kind) {
  case 'n':
    *nowhere = 1;
    break;
  case 'd': {
    int quotient;
    __asm__ volatile("cltd; idivl %1" : "=a"(quotient) : "r"(zero), "0"(7) : "edx", "cc");
    printf("%d\n", quotient);
    break;
  }
  case 's':
    printf("%d\n", deep(&zero));
    break;
  case 'f':
    free(block);
    free(block);
    break;
  case 'b':
    free(inside);
    break;
  case 't':
    __builtin_trap();
  case 'm': {
    int file = mkstemp(name);
    char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    unlink(name);
    printf("%d\n", page[100]);
    break;
  }
  case 'l':
    printf("%zu\n", strlen((char *)nowhere));
    break;
  }
}

int main(int argc, char **argv) {
  char *mine = argv[1 + V];
  int number, when = *mine == '-' ? -1 : atoi(mine);
  while (scanf("%d", &number) == 1) {
    printf("number %d\n", number);
    if (number & 1)
      fflush(stdout);
    if (number == when)
      crash(argv[1][0]);
    if (number == 6)
      fprintf(stderr, "six\n");
  }
  printf("done\n");
  return argc;
}
