// Parsing twice: optind = 0 and optind = 1, opterr = 0, a leading + and - in the option string.
//@ args: -a x -q -b y
//@ expect: output
#include <stdio.h>
#include <unistd.h>

static void parse(int argc, char **argv, const char *options) {
  int option;
  printf("%s:", options);
  while ((option = getopt(argc, argv, options)) != -1)
    printf(" %d,%s,%d", option, optarg ? optarg : "-", optind);
  printf(" end %d\n", optind);
}

int main(int argc, char **argv) {
  parse(argc, argv, "+ab");
  optind = 0;
  opterr = V == 2;
  parse(argc, argv, "-ab");
  optind = 1;
  parse(argc, argv, ":ab:");
  return 0;
}
