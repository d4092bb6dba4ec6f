// Parameters reordered, one more, one less, and of another type; structures by value and returned.
//@ run: short
//@ args: ab
//@ run: long
//@ args: abcdefgh
//@ expect: output
#include <stdio.h>
#include <string.h>

struct range {
  long from, to, step;
};

#if V == 1
static int count(const char *s, int n, char c) {
#else
static int count(char c, const char *s, int n, int weight) {
#endif
  int found = 0;
  for (int i = 0; i < n; i++)
    if (s[i] == c)
      found++;
#if V == 1
  return found;
#else
  return found * weight;
#endif
}

#if V == 1
static struct range shifted(struct range r, int by) {
#else
static struct range shifted(long by, struct range r) {
#endif
  r.from += by;
  r.to += by;
  return r;
}

#if V == 1
static void show(unsigned char x, double y) {
#else
static void show(float y, unsigned short x) {
#endif
  printf("%d %.1f\n", x, (double)y);
}

int main(int argc, char **argv) {
  const char *s = argv[1];
  int n = strlen(s);
  struct range r = {0, n, 1};
  for (int i = 0; i < n; i++) {
#if V == 1
    r = shifted(r, i);
    printf("%d %ld\n", count(s, n, s[i]), r.to);
    show(200 + i, i / 2.0);
#else
    r = shifted(i, r);
    printf("%d %ld\n", count(s[i], s, n, 1 + i / 6), r.to);
    show(i / 2.0f, 200 + i);
#endif
  }
  return 0;
}
