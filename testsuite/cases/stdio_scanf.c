// scanf's conversions, what it leaves unread, and sscanf and fscanf beside it.
//@ stdin: pipe "12 0x1f  -7 word 3.5e1 [abc] tail\nrest of it\n"
//@ expect: output
#include <stdio.h>

int main(void) {
  int a, b, c, n;
  char word[32], set[32];
  float f;
  n = scanf("%d %i %d %31s %f [%31[^]]]", &a, &b, &c, word, &f, set);
  printf("%d: %d %d %d %s %g %s\n", n, a, b, c, word, f, set);
  n = scanf("%d", &a);
  printf("%d\n", n);
  n = fscanf(stdin, "%*s%n", &c);
  printf("%d %d '%c'\n", n, c, getchar());
  printf("%d %s\n", scanf("%[^\n]%*c", word), word);
  printf("%d\n", scanf("%s", word));
  n = sscanf("5-6", "%d-%d", &a, &b);
  printf("%d %d %d\n", n, a, b + V);
  return 0;
}
