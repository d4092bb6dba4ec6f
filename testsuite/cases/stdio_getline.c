// getline and getdelim: lines that grow, bytes of value 0, a last line without newline.
//@ run: pipe
//@ stdin: pipe "short\n" 300*long \n "a\0b\n\nlast"
//@ expect: output
//@ run: file
//@ stdin: file "x,y\nz"
//@ run: nothing
//@ stdin: pipe
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  char *line = NULL;
  size_t space = 0;
  ssize_t length;
  while ((length = getline(&line, &space, stdin)) != -1) {
    printf("%zd %d:", length, space > (size_t)length);
    fwrite(line, 1, length > 20 ? 20 : length, stdout);
    if (V == 2 && length > 200)
      printf("long");
    putchar('\n');
  }
  printf("%d %d\n", feof(stdin) != 0, ferror(stdin) != 0);
  rewind(stdin);
  while ((length = getdelim(&line, &space, ',', stdin)) != -1)
    printf("%zd ", length);
  free(line);
  return 0;
}
