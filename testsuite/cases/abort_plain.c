// abort: SIGABRT, no handlers, no flushing.
//@ run: both
//@ run: one
//@ args: x
//@ expect: both
#include <stdio.h>
#include <stdlib.h>

static int quiet;
static void handler(void) {
  if (!quiet)
    puts("never printed");
}

static int fail(int depth) {
  if (depth == 0) {
    fprintf(stderr, "about to abort\n");
    abort();
  }
  return fail(depth - 1) + 1;
}

int main(int argc, char **argv) {
  atexit(handler);
  printf("lost");
  if (V == 2 && argc > 1) {
    quiet = 1;
    return 0;
  }
  return fail(4);
}
