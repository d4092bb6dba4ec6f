// exit called again by an atexit handler: the remaining handlers run and the last status counts.
//@ run: plain
//@ expect: none
//@ run: nested
//@ args: x
//@ expect: status
#include <stdio.h>
#include <stdlib.h>

static int argument_count;

static void last(void) { puts("last handler"); }
static void again(void) {
  puts("again");
  if (argument_count > 1)
    exit(V == 2 ? 12 : 11);
  puts("goes on");
}
static void early(void) { puts("early handler"); }

int main(int argc, char **argv) {
  argument_count = argc;
  atexit(last);
  atexit(again);
  atexit(early);
  exit(1);
}
