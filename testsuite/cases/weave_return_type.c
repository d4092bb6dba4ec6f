// A function whose return type changes: int and long, void and int, a structure and a pointer.
//@ run: small
//@ args: 5
//@ run: large
//@ args: 40
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

#if V == 1
typedef int number;
#else
typedef long number;
#endif

static number product(int n) {
  number p = 1;
  for (int i = 2; i <= n; i++)
    p = (number)((unsigned long)p * i % 4000000007ul);
  return p;
}

static int noted;

#if V == 1
static void note(int x) { noted += x; }
#else
static int note(int x) {
  noted += x;
  return noted > 30;
}
#endif

struct pair {
  int first, second;
};

#if V == 1
static struct pair halves(int n) {
  struct pair p = {n / 2, n - n / 2};
  return p;
}
#else
static struct pair *halves(int n) {
  static struct pair p;
  p.first = n / 2;
  p.second = n - n / 2;
  return &p;
}
#endif

int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  for (int i = 1; i <= n; i += 3) {
#if V == 1
    note(i);
    struct pair p = halves(i);
#else
    if (note(i) && i > 33)
      puts("enough");
    struct pair p = *halves(i);
#endif
    printf("%ld %d %d\n", (long)product(i), p.first, p.second);
  }
  printf("%d\n", noted);
  return 0;
}
