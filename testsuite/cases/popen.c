// popen in both directions, pclose's status, and a pipe that is never closed.
//@ stdin: file "one\ntwo\n"
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(void) {
  char line[100];
  printf("before\n");
  fflush(stdout);
  FILE *from = popen(V == 2 ? "echo two; exit 3" : "echo one; exit 3", "r");
  while (fgets(line, sizeof line, from))
    printf("from: %s", line);
  printf("status %d\n", WEXITSTATUS(pclose(from)));
  fflush(stdout);
  FILE *to = popen("sort; echo sorted >&2", "w");
  fprintf(to, "b\na\n");
  printf("status %d\n", pclose(to));
  fflush(stdout);
  from = popen("cat", "r");
  while (fgets(line, sizeof line, from))
    printf("inherited: %s", line);
  return 0;
}
