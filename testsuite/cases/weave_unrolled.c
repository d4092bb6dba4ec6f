// A loop unrolled by hand in one version, with a loop for the rest.
//@ run: none
//@ args: ""
//@ run: rest only
//@ args: abc
//@ run: one round
//@ args: abcd
//@ run: rounds and rest
//@ args: abcdefghijk
//@ run: a difference in the last
//@ args: abcdefg~
//@ expect: output
#include <stdio.h>
#include <string.h>

static unsigned add(unsigned sum, char c) { return sum * 33 + (unsigned char)c; }

static unsigned checksum(const char *s, int n) {
  unsigned sum = 5381;
  int i = 0;
#if V == 2
  for (; i + 4 <= n; i += 4) {
    sum = add(sum, s[i]);
    sum = add(sum, s[i + 1]);
    sum = add(sum, s[i + 2]);
    sum = add(sum, s[i + 3] == '~' ? '-' : s[i + 3]);
  }
#endif
  for (; i < n; i++)
    sum = add(sum, s[i]);
  return sum;
}

int main(int argc, char **argv) {
  int n = strlen(argv[1]);
  for (int from = 0; from <= n; from += 3)
    printf("%u\n", checksum(argv[1] + from, n - from));
  return 0;
}
