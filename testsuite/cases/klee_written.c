// Versions that differ only in what stdio has written when they end without exit.
//@ versions: 2
//@ run: nothing of either
//@ args: a
//@ run: of one
//@ args: b
//@ expect: output
//@ klee: difference --sym-arg 1
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  printf("text");
  if (V == 1 && argc > 1 && argv[1][0] == 'b')
    fflush(stdout);
  _exit(0);
}
