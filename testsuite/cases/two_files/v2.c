#include <stdio.h>
#include <stdlib.h>

struct record {
  const char *name;
  long value;
};
static struct record records[8] = {{"first", 1}};
long total;

static long fold(long n) { return n <= 1 ? 1 : n * fold(n - 1); }

static void add(struct record *record, long n) {
  record->value *= fold(n);
  total += record->value;
}

int main(int argc, char **argv) {
  add(&records[0], atoi(argv[1]));
  printf("%ld\n", total);
  return 0;
}
