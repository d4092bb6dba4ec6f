// getopt_long: abbreviations, ambiguity, = and separate arguments, flags, long_only, messages.
//@ run: options
//@ args: --verbose --out=x --out y name --lev 3 -v
//@ expect: none
//@ run: ambiguous
//@ args: --l --le=2 --verbose=no --nothing --out
//@ expect: output
//@ run: long only
//@ args: -verbose -out z
//@ env: ONLY=1
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static int verbose;

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"verbose", no_argument, &verbose, 1},
      {"out", required_argument, NULL, 'o'},
      {"level", optional_argument, NULL, 'l'},
#if V == 1
      {"length", no_argument, NULL, 'L'},
#else
      {"width", no_argument, NULL, 'L'},
#endif
      {0},
  };
  int option, index = -1;
  int (*parse)(int, char *const *, const char *, const struct option *, int *) =
      getenv("ONLY") ? getopt_long_only : getopt_long;
  while ((option = parse(argc, argv, "vo:l:", options, &index)) != -1)
    printf("%d %s index %d optind %d\n", option, optarg ? optarg : "-", index, optind);
  printf("verbose %d, rest", verbose);
  while (optind < argc)
    printf(" %s", argv[optind++]);
  putchar('\n');
  return 0;
}
