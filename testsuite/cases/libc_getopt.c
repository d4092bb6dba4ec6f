// getopt and getopt_long: permutation, optional arguments, abbreviations, optind = 0, place in argv per version.
//@ run: permuted
//@ args: one -a two -b3 -c -cX --alpha three --beta=4 -- -a
//@ run: in order
//@ args: -R one -a two --alpha
//@ run: stop at first
//@ args: -S -a one -b 2
//@ run: posix
//@ args: -a one -b 2
//@ env: POSIXLY_CORRECT=1
//@ run: abbreviated
//@ args: --alp --bet 5 --gam --gamm=6 --gamma -W alpha -Wbeta=7 -W beta 8
//@ run: the second version stops early
//@ args: -a -q -b 1 x y
//@ expect: output
#include <getopt.h>
#include <stdio.h>
#include <string.h>

static int flag;
static const struct option table[] = {
    {"alpha", no_argument, NULL, 'a'},
    {"beta", required_argument, NULL, 'b'},
    {"gamma", optional_argument, &flag, 42},
    {NULL, 0, NULL, 0},
};

static void parse(int argc, char **argv, const char *letters) {
  int code, index = -1;
  optind = 0;
  while ((code = getopt_long(argc, argv, letters, table, &index)) != -1) {
    printf("%d (%c) optind %d optarg %s index %d flag %d\n", code, code > 31 ? code : '.', optind,
           optarg ? optarg : "none", index, flag);
    index = -1;
#if V == 2
    if (code == 'q')
      break;
#endif
  }
  for (int i = 0; i < argc; i++)
    printf(" %s%s", i == optind ? "| " : "", argv[i]);
  printf("\n");
}

int main(int argc, char **argv) {
  const char *letters = "ab:c::qW;";
  if (argc > 1 && strcmp(argv[1], "-R") == 0)
    letters = "-ab:c::qRW;";
  if (argc > 1 && strcmp(argv[1], "-S") == 0)
    letters = "+ab:c::qSW;";
  printf("%d %d %c %s\n", optind, opterr, optopt, optarg ? optarg : "none");
  parse(argc, argv, letters);
  parse(argc, argv, letters);
  return 0;
}
