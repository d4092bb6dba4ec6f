// crypt's buffer.
//@ link: -lcrypt
//@ run: same
//@ run: other phrases
//@ args: x
//@ expect: output
#include <crypt.h>
#include <stdio.h>

int main(int argc, char **argv) {
  char *first = crypt(argc > 1 && V == 2 ? "second" : "first", "$1$salt$");
  printf("%s\n", first);
  crypt("other", "$5$salt$");
  printf("%s\n", first);
  return 0;
}
