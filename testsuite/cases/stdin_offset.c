// An input that begins in the middle of a file; seeks from there and to its real beginning.
//@ stdin: file+6 "hidden" "visible text\nmore\n"
//@ expect: output
#include <stdio.h>
#include <unistd.h>

int main(void) {
  char word[16];
  printf("at %ld %ld\n", (long)lseek(0, 0, SEEK_CUR), ftell(stdin));
  scanf("%15s", word);
  printf("%s at %ld\n", word, ftell(stdin));
  fseek(stdin, V == 2 ? 1 : 0, SEEK_SET);
  fgets(word, 7, stdin);
  printf("%s\n", word);
  printf("%ld\n", (long)lseek(0, 3, SEEK_SET));
  printf("%zd", read(0, word, 3));
  printf(" %.3s\n", word);
  printf("%ld\n", (long)lseek(0, 0, SEEK_END));
  printf("%zd\n", pread(0, word, 4, 2));
  return 0;
}
