// A function under another name in one version, with the same body; another one that takes its old name.
//@ run: small
//@ args: 3
//@ run: large
//@ args: 30
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

#if V == 1
#define COLLATZ steps
#define HALVE halve
#else
#define COLLATZ collatz_length
#define HALVE steps
#endif

static int HALVE(int n) { return n / 2; }

static int COLLATZ(int n) {
  int count = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : HALVE(n);
    count++;
  }
  return count;
}

int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  for (int i = 1; i <= n; i++)
    printf("%d\n", COLLATZ(i) + (V == 2 && i > 20));
  return 0;
}
