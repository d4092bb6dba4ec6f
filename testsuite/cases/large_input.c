// 4 MB of input through a pipe and from a file, read in three ways.
//@ levels: -O2
//@ run: pipe
//@ stdin: pipe 400000*0123456789
//@ expect: output
//@ run: file
//@ stdin: file 400000*0123456789
//@ expect: output
#include <stdio.h>
#include <unistd.h>

int main(void) {
  static char buffer[100000];
  long sum = 0, size = 0;
  for (int i = 0; i < 1000000; i++)
    sum += getchar();
  sum += fread(buffer, 1, sizeof buffer, stdin);
  ssize_t got;
  while ((got = read(0, buffer, V == 2 ? 7777 : 8192)) > 0)
    size += got;
  printf("%ld %ld %d\n", sum, size, getchar() + V);
  return 0;
}
