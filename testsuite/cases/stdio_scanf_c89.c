// scanf of C89 programs, in which "%as" allocates: scanf, fscanf, sscanf and their wide forms under their own names.
//@ cflags: -std=gnu89
//@ stdin: pipe "first 1.5 second\nthird [x]]\n"
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

static void show(const char *what, int count, char *text) {
  printf("%s %d %s\n", what, count, count > 0 ? text : "-");
  if (count > 0)
    free(text);
}

int main(void) {
  char *text = NULL;
  float number = 0;
  int count;

  count = scanf("%as", &text);
  show("scanf", count, text);
  count = scanf("%f", &number);
  printf("%d %g V%d\n", count, number, V);
  count = fscanf(stdin, " %a[a-m]", &text);
  show("fscanf", count, text);
  count = fscanf(stdin, " %as", &text);
  show("fscanf", count, text);
  count = sscanf("one two", "one %as", &text);
  show("sscanf", count, text);
  wchar_t *wide = NULL;
  count = swscanf(L"one two", L"one %aS", &wide);
  printf("%d %ls\n", count, count > 0 ? wide : L"-");
  return 0;
}
