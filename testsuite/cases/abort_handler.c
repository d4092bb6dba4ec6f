// abort with a SIGABRT handler: the handler runs first, may leave by exit, and SIGABRT is fatal after it returns.
//@ run: returns
//@ args: return
//@ expect: output
//@ run: exits
//@ args: exit
//@ expect: both
//@ run: ignored
//@ args: ignore
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int leave;

static void on_abort(int signal) {
  char text[] = "handler v?\n";
  text[9] = '0' + V;
  write(1, text, 11);
  if (leave)
    _exit(20 + V);
}

int main(int argc, char **argv) {
  leave = !strcmp(argv[1], "exit");
  signal(SIGABRT, strcmp(argv[1], "ignore") ? on_abort : SIG_IGN);
  printf("lost");
  abort();
}
