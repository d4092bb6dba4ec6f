// What stdio has not written when a version ends without exit is lost, in KLEE as well; and write goes before it.
//@ versions: 2
//@ run: exit
//@ args: e
//@ run: _exit
//@ args: x
//@ run: quick_exit
//@ args: q
//@ run: abort
//@ args: a
//@ run: abort behind fflush
//@ args: f
//@ run: write before it is written
//@ args: w
//@ run: written by setvbuf
//@ args: u
//@ run: a full buffer
//@ args: b
//@ run: the last line is not whole
//@ args: l
//@ klee: none --sym-arg 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char large[5000];

int main(int argc, char **argv) {
  char what = argc > 1 ? argv[1][0] : 0;
  switch (what) {
  case 'e':
    /* All at once or bit by bit. */
    printf(V == 1 ? "ab" : "a");
    if (V == 2)
      putchar('b');
    exit(3);
  case 'x':
    printf("lost in %d", V);
    fprintf(stderr, "not lost\n");
    _exit(4);
  case 'q':
    if (V == 1)
      puts("lost");
    quick_exit(5);
  case 'a':
    fputs(V == 1 ? "lost" : "lost as well\n", stdout);
    abort();
  case 'f':
    putchar('f');
    fflush(V == 1 ? NULL : stdout);
    printf("lost in %d", V);
    abort();
  case 'w':
    if (V == 1)
      printf("second ");
    if (write(1, "first ", 6) != 6)
      return 1;
    if (V == 2)
      printf("second ");
    fflush(stdout);
    if (V == 2)
      write(1, "third", 5);
    else
      printf("third");
    return 0;
  case 'u':
    printf("kept");
    setvbuf(stdout, NULL, _IONBF, 0);
    printf(" and ");
    putchar('x');
    _exit(6);
  case 'b':
    memset(large, 'b', sizeof large);
    /* The first 4096 bytes are written. */
    fwrite(large, 1, sizeof large - V * 100, stdout);
    _exit(7);
  case 'l':
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("whole\nlost in %d", V);
    _exit(8);
  }
  return 0;
}
