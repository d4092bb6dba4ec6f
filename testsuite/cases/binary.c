// Bytes of every value in and out, NULs and bytes that are not UTF-8 among them, also in arguments.
//@ args: "\xff\xfe" "\x01"
//@ stdin: pipe "\0\x01\x7f\x80\xff\r\n\0" 3*\0\xff
//@ expect: output
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  int c, count = 0;
  while ((c = getchar()) != EOF) {
    count++;
    putchar(V == 2 && c == 0x80 ? 0x81 : c);
  }
  for (int i = 0; i < 256; i++)
    putchar(i);
  printf("%d %zu %s", count, strlen(argv[1]), argv[1]);
  fwrite("a\0b", 1, 3, stderr);
  return 0;
}
