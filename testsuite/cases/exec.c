// exec replaces the program: its output, status and the descriptors and directory it gets; a failed exec returns.
//@ stdin: pipe "input for the next program\n"
//@ run: cat
//@ args: cat
//@ expect: none
//@ run: status
//@ args: sh -c "pwd | sed s,.*/,,; echo $NAME; exit 17"
//@ expect: output
//@ run: missing
//@ args: no-such-program
//@ expect: status
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
  mkdir("inner", 0700);
  chdir("inner");
  setenv("NAME", V == 2 ? "second" : "first", 1);
  printf("flushed\n");
  fflush(stdout);
  printf("lost");
  execvp(argv[1], argv + 1);
  printf(" %d\n", errno == ENOENT);
  return 10 + V;
}
