// freopen of stdin, stdout and stderr on files, and back reading what was written.
//@ stdin: pipe "from the pipe\n"
//@ expect: status
#include <stdio.h>
#include <unistd.h>

int main(void) {
  char line[100];
  printf("before, unflushed");
  if (!freopen("out.txt", "w", stdout))
    return 1;
  printf("to the file %d\n", fileno(stdout));
  write(1, "by descriptor\n", 14);
  if (!freopen("out.txt", "r", stdin))
    return 2;
  fflush(stdout);
  while (fgets(line, sizeof line, stdin))
    fprintf(stderr, "read: %s", line);
  fprintf(stderr, "stdin is %d, stdout is %d\n", fileno(stdin), fileno(stdout));
  if (!freopen("err.txt", V == 2 ? "a" : "w", stderr))
    return 3;
  fprintf(stderr, "hidden\n");
  fclose(stderr);
  FILE *file = fopen("err.txt", "r");
  printf("%d\n", fileno(file));
  unlink("out.txt");
  unlink("err.txt");
  return fgets(line, sizeof line, file) ? V - 1 : 9;
}
