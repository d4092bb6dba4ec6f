// read(0) and FILE functions on one input: the FILE reads ahead as far as it does alone.
//@ run: pipe
//@ stdin: pipe "line one\nline two\n" 6000*x "\nend\n"
//@ expect: output
//@ run: file
//@ stdin: file "line one\nline two\n" 6000*x "\nend\n"
//@ expect: output
//@ run: small pipe
//@ stdin: pipe "a\nb"
//@ expect: none
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
  char buffer[8000];
  ssize_t size = read(0, buffer, 5);
  printf("read %zd: %.*s|\n", size, (int)size, buffer);
  if (fgets(buffer, 100, stdin))
    printf("fgets: %s", buffer);
  size = read(0, buffer, V == 2 ? 10 : 20);
  printf("read %zd: %.*s|\n", size, (int)(size > 0 ? size : 0), buffer);
  size_t rest = fread(buffer, 1, sizeof buffer, stdin);
  printf("fread %zu eof %d\n", rest, feof(stdin) != 0);
  printf("read %zd\n", read(0, buffer, 10));
  return 0;
}
