// Faults in lock-step that versions handle, ignore or block: each version's own handler is called, for its own
// faults.
//@ levels: -O0 -O2
//@ expect: both
//@ run: handlers that end it
//@ args: h
//@ run: ignored
//@ args: i
//@ run: blocked
//@ args: b
//@ run: a handler in one of them
//@ args: o
//@ run: libc's abort is handled
//@ args: a
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int *volatile nowhere;
static volatile int faults;

static void end(int signal) {
  faults++;
  write(1, V == 1 ? "handler 1\n" : "handler 2\n", 10);
  _exit(signal);
}

int main(int argc, char **argv) {
  sigset_t set;
  char *volatile block = malloc(40);
  printf("start\n");
  fflush(stdout);
  switch (argv[1][0]) {
  case 'h':
    signal(SIGSEGV, end);
    printf("never flushed by version 2\n");
    if (V == 2)
      *nowhere = 1;
    break;
  case 'i':
    signal(SIGSEGV, SIG_IGN);
    raise(SIGSEGV);
    if (V == 1)
      *nowhere = 1;
    break;
  case 'b':
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (V == 1)
      *nowhere = 1;
    break;
  case 'o':
    if (V == 2)
      signal(SIGSEGV, end);
    *nowhere = 1;
    break;
  case 'a':
    signal(SIGABRT, end);
    free(block);
    if (V == 1)
      free(block);
    break;
  }
  printf("%d faults\n", faults);
  return argc;
}
