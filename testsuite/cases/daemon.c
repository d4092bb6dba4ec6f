// daemon and background children: what they print after the version is over belongs to its output.
//@ run: daemon
//@ args: d
//@ expect: output
//@ run: background
//@ args: b
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char directory[100];
  printf("before\n");
  fflush(stdout);
  if (argv[1][0] == 'b') {
    system("(sleep 1; echo late) & echo early");
    puts(V == 2 ? "two" : "one");
    return 0;
  }
  if (daemon(0, 1) != 0)
    return 1;
  usleep(100000);
  printf("%s %d %d\n", getcwd(directory, sizeof directory), getsid(0) == getpid(), V);
  return 5;
}
