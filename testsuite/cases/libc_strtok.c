// strtok's place in the string.
//@ args: a,b;c,,d
//@ run: same
//@ run: the second version stops early
//@ env: EARLY=1
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  int count = 0;
  for (char *word = strtok(argv[1], ","); word; word = strtok(NULL, ",;")) {
    printf("%s\n", word);
    if (V == 2 && getenv("EARLY") && ++count == 2)
      break;
  }
  char again[] = "x y";
  printf("%s", strtok(again, " "));
  printf(" %s\n", strtok(NULL, " "));
  return 0;
}
