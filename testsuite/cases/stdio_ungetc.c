// ungetc, also at the start and at the end of the input, with feof and ftell.
//@ stdin: file "12ab"
//@ expect: output
#include <ctype.h>
#include <stdio.h>

int main(void) {
  ungetc('9', stdin);
  int c, number = 0;
  while (isdigit(c = getchar()))
    number = number * 10 + c - '0';
  ungetc(c, stdin);
  printf("%d at %ld\n", number, ftell(stdin));
  printf("%c", getchar());
  if (V == 1)
    ungetc('B', stdin);
  printf("%c\n", getchar());
  while ((c = getchar()) != EOF)
    putchar(c);
  printf("eof %d\n", feof(stdin) != 0);
  ungetc('z', stdin);
  printf("eof %d", feof(stdin) != 0);
  printf(" %c %d\n", getchar(), getchar());
  return 0;
}
