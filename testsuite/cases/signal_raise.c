// Signals that a version sends to itself: handled, ignored, fatal.
//@ run: handled
//@ args: u
//@ expect: output
//@ run: term
//@ args: t
//@ run: kill
//@ args: k
//@ expect: status
//@ run: ignored
//@ args: i
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t count;

static void handler(int signal) { count += V; }

int main(int argc, char **argv) {
  printf("lost when killed\n");
  switch (argv[1][0]) {
  case 'u':
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    printf("%d\n", (int)count);
    break;
  case 't':
    raise(SIGTERM);
    break;
  case 'k':
    kill(getpid(), V == 2 ? SIGINT : SIGHUP);
    break;
  case 'i':
    signal(SIGTERM, SIG_IGN);
    raise(SIGTERM);
    printf("%d\n", signal(SIGTERM, SIG_DFL) == SIG_IGN);
    break;
  }
  return 0;
}
