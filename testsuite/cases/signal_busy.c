// A signal with its default action, or a handler that exits, ends a version in a loop that makes no call.
//@ levels: -O1
//@ run: alarm
//@ args: a
//@ expect: both
//@ run: from a child
//@ args: k
//@ expect: both
//@ run: handler
//@ args: h
//@ expect: both
//@ run: in both
//@ args: b
//@ expect: none
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned long count;

static void leave(int signal) {
  puts("handler");
  exit(7);
}

static void send_later(void) {
  if (fork() == 0) {
    usleep(200000);
    kill(getppid(), SIGTERM);
    _exit(0);
  }
}

int main(int argc, char **argv) {
  char what = argv[1][0];
  puts("begin");
  fflush(stdout);
  if (what == 'h')
    signal(SIGTERM, leave);
  if (V == 2 || what == 'b') {
    if (what == 'a')
      ualarm(200000, 0);
    else
      send_later();
    for (;;)
      count++;
  }
  puts("end");
  return 0;
}
