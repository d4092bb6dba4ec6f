// Versions merged as they were compiled: locals in memory, conditions apart.
//@ merge: --prepare none
//@ args: 5 7
//@ stdin: pipe "one two three\nfour five\n"
//@ run: output differs
//@ expect: output
//@ run: ended in the loop
//@ args: 5 stop
//@ expect: both
//@ run: equal
//@ args: 0 0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int weights[8] = {3, 1, 4, 1, 5, 9, 2, 6};

static void leave(const char *word) {
  fprintf(stderr, "%s stops version %d\n", word, V);
  exit(V + 2);
}

static long weigh(const char *word, int factor, int bound) {
  long sum = 0;
  for (int i = 0; word[i]; i++) {
    if (sum > bound && !strcmp(word, "three"))
      leave(word);
    sum += (long)weights[(unsigned char)word[i] % 8] * (factor * factor + V * (factor > 0));
  }
  return sum;
}

int main(int argc, char **argv) {
  int factor = atoi(argv[1]), bound = strcmp(argv[2], "stop") ? 1000000 : 10;
  char word[32];
  long total = 0;
  while (scanf("%31s", word) == 1) {
    total += weigh(word, factor, bound);
    printf("%s %ld\n", word, total);
  }
  return 0;
}
