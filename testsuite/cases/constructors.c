// Constructors and destructors with priorities, their arguments, and atexit between them.
//@ args: one two
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

static int step;
static void say(const char *what) { printf("%d %s\n", ++step, what); }

__attribute__((constructor(300))) static void third(void) { say("constructor 300"); }
__attribute__((constructor(V == 2 ? 400 : 200))) static void moved(void) { say("constructor moved"); }
__attribute__((constructor(101))) static void first(void) { say("constructor 101"); }
__attribute__((constructor)) static void with_arguments(int argc, char **argv) {
  printf("%d %s\n", argc, argv[argc - 1]);
  say("constructor");
}
__attribute__((destructor(101))) static void last(void) { say("destructor 101"); }
__attribute__((destructor)) static void early(void) { say("destructor"); }
static void handler(void) { say("atexit"); }

int main(void) {
  atexit(handler);
  say("main");
  return 0;
}
