// on_exit handlers see the status and their argument, in one order with atexit's.
//@ run: return
//@ expect: none
//@ run: exit
//@ args: 6
//@ expect: both
#include <stdio.h>
#include <stdlib.h>

static void tell(int status, void *text) { printf("%s: %d\n", (char *)text, status); }
static void plain(void) { puts("plain"); }

int main(int argc, char **argv) {
  on_exit(tell, "one");
  atexit(plain);
  on_exit(tell, "two");
  if (argc > 1)
    exit(atoi(argv[1]) + V);
  return 4;
}
