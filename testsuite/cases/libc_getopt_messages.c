// Messages of the getopt family on the version's stderr, under its own argv[0].
//@ args: -x -b --nix --al --alp=1 --beta --be=2 -Wnix -- -x
//@ run: long options with two dashes
//@ run: long options with one dash
//@ env: ONLY=1
//@ args: -nix -alpine -al -bet -x -bb
//@ run: quiet by a colon
//@ env: COLON=1
//@ run: quiet by opterr
//@ env: QUIET=1
//@ run: the versions' names differ
//@ env: RENAME=1
//@ expect: output
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const struct option table[] = {
    {"alpha", no_argument, NULL, 'a'},
    {"alpine", no_argument, NULL, 'A'},
    {"beta", required_argument, NULL, 'b'},
    {NULL, 0, NULL, 0},
};

int main(int argc, char **argv) {
  int code;
  const char *letters = getenv("COLON") ? ":ab:W;" : "ab:W;";
  opterr = !getenv("QUIET");
#if V == 2
  if (getenv("RENAME"))
    argv[0] = "renamed";
#endif
  while ((code = getenv("ONLY") ? getopt_long_only(argc, argv, letters, table, NULL)
                                : getopt_long(argc, argv, letters, table, NULL)) != -1)
    printf("%c optopt %d optind %d\n", code, optopt, optind);
  fprintf(stderr, "end at %d\n", optind);
  return 0;
}
