// Values that the program makes symbolic itself: the versions get the same ones, in another order, too.
//@ args:
//@ klee: none
#include <stddef.h>
#include <stdio.h>

// Not there in a native run.
#define WEAK __attribute__((weak))
WEAK void klee_make_symbolic(void *object, size_t size, const char *name);
WEAK int klee_range(int begin, int end, const char *name);
WEAK int klee_int(const char *name);

static int range(const char *name) { return klee_range ? klee_range(0, 10, name) : 0; }
static int any(void) { return klee_int ? klee_int("any") : 0; }

static void make_text(char text[4]) {
  if (klee_make_symbolic)
    klee_make_symbolic(text, 4, "text");
}

int main(void) {
  char text[4] = "abc";
  int low, high;
#if V == 1
  low = range("low");
  high = range("high");
  make_text(text);
#else
  make_text(text);
  high = range("high");
  low = range("low");
#endif
  int first = any(), second = any();
  putchar(text[0] ^ text[3]);
  if (first == second)
    putchar('=');
  return low < high ? high - low : low - high;
}
