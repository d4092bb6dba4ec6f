// Counts lines. Of an empty input the new version says something else.
#include <stdio.h>

int main(void) {
  int lines = 0, last = '\n', c;
  while ((c = getchar()) != EOF) {
    lines += c == '\n';
    last = c;
  }
#if V == 1
  lines += last != '\n';
#else
  lines += last != '\n' || lines == 0;
#endif
  printf("%d\n", lines);
  return 0;
}
