// Versions in files of their own that share names, types of another size and nothing else.
//@ run: small
//@ args: 3
//@ run: large
//@ args: 12
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

struct record {
  int value;
};
static struct record records[4];
int total;

static int fold(int n) {
  int product = 1;
  for (int i = 2; i <= n; i++)
    product = product * i % 1000;
  return product;
}

int main(int argc, char **argv) {
  records[0].value = fold(atoi(argv[1]));
  total += records[0].value;
  printf("%d\n", total);
  return 0;
}
