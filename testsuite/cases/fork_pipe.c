// A pipeline by hand: pipe, fork, dup2, exec on one side, a FILE on the other.
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  int ends[2];
  char line[100];
  if (pipe(ends))
    return 1;
  printf("ends %d %d\n", ends[0], ends[1]);
  fflush(stdout);
  if (fork() == 0) {
    close(ends[0]);
    dup2(ends[1], 1);
    close(ends[1]);
    setenv("WORD", V == 2 ? "two" : "one", 1);
    execlp("sh", "sh", "-c", "echo child says $WORD; echo to stderr >&2", (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  FILE *from = fdopen(ends[0], "r");
  while (fgets(line, sizeof line, from))
    printf("got %s", line);
  int status;
  wait(&status);
  printf("status %d\n", WEXITSTATUS(status));
  if (vfork() == 0)
    _exit(4);
  wait(&status);
  printf("status %d\n", WEXITSTATUS(status));
  return 0;
}
