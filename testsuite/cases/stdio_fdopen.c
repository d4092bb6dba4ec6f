// fdopen on standard descriptors and on duplicates; every FILE has a buffer of its own.
//@ stdin: file "one\ntwo\nthree\n"
//@ expect: output
#include <stdio.h>
#include <unistd.h>

int main(void) {
  char line[32];
  FILE *second = fdopen(dup(1), "w");
  fprintf(second, "second %d\n", fileno(second));
  printf("first\n");
  if (V == 2)
    fflush(stdout);
  fclose(second);
  FILE *again = fdopen(1, "w");
  fprintf(again, "again\n");
  fflush(again);
  FILE *input = fdopen(0, "r");
  while (fgets(line, sizeof line, input))
    printf("%s", line);
  printf("%s\n", fgets(line, sizeof line, stdin) ? line : "nothing left");
  return 0;
}
