// getopt: bundles, arguments, permutation, --, errors and their messages, POSIXLY_CORRECT.
//@ run: permuted
//@ args: file -ab -c arg other -darg -- -e
//@ expect: output
//@ run: errors
//@ args: -x -c
//@ run: optional argument
//@ args: -ovalue -o value
//@ run: posix
//@ args: -a file -b
//@ env: POSIXLY_CORRECT=1
//@ run: no arguments
//@ run: dash
//@ args: -a - -b
//@ expect: none
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int option;
  while ((option = getopt(argc, argv, V == 2 ? "abc:d::eo::" : "abc:d:eo::")) != -1) {
    printf("%c optarg %s optind %d optopt %c\n", option, optarg ? optarg : "-", optind, optopt ? optopt : '-');
    if (option == 'd' && V == 2)
      puts("d is optional");
  }
  for (int i = 0; i < argc; i++)
    printf("%s%s", i == optind ? "| " : "", argv[i]), putchar(' ');
  putchar('\n');
  return 0;
}
