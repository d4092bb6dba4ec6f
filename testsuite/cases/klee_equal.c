// Two ways to write one function, over symbolic input, arguments and options: no difference on any path.
//@ args: -n 3
//@ stdin: pipe "abc"
//@ klee: none --sym-args 0 2 2 --sym-stdin 4
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int option, count = 0, limit = 2;
  while ((option = getopt(argc, argv, "n")) != -1)
    if (option == 'n')
      limit = 3;
    else
      return 2;
  int c;
#if V == 1
  while (count < limit && (c = getchar()) != EOF)
    if (c == 'a')
      count++;
#else
  for (;;) {
    if (count >= limit)
      break;
    c = getchar();
    if (c == EOF)
      break;
    count += c == 'a';
  }
#endif
  printf("%d\n", count);
  exit(count > 0);
}
