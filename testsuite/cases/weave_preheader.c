// A loop whose preheader does nothing in one version and computes in the other: their phis get values in one place.
//@ versions: 2
//@ expect: none
//@ run: moved
//@ args: 4
//@ run: others
//@ args: 9
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct buffer { char *bytes; size_t used, left; };
static size_t scan(struct buffer *b, size_t step) {
  size_t total = 0;
  size_t mine = step - 1;
#if V == 2
  size_t used = b->used;
#endif
  if (b->used != b->left) {
    memmove(b->bytes, b->bytes + b->used - b->left, b->left);
    b->used = b->left;
#if V == 2
    used = b->left;
#endif
  }
#if V == 2
  size_t twice = step * 2;
  char *end = b->bytes + used;
#endif
  for (;;) {
#if V == 1
    char *end = b->bytes + b->used;
    total += (size_t)(unsigned char)end[-1] + step * 2 + mine;
#else
    total += (size_t)(unsigned char)end[-1] + twice + mine;
#endif
    if (total > 1000)
      return total;
    mine = total / 3;
  }
}
int main(int argc, char **argv) {
  char text[] = "some text to move";
  struct buffer b = {text, sizeof text - 1, (size_t)(argc > 1 ? atoi(argv[1]) : 4)};
  printf("%zu\n", scan(&b, 7));
  return 0;
}
