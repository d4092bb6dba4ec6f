// exit in a handler, and a signal's default action, while the program is in a loop without calls.
//@ run: exit
//@ args: e
//@ expect: both
//@ run: default
//@ args: d
//@ expect: none
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static void leave(int signal) {
  printf("handler %d\n", V);
  exit(20 + V);
}

int main(int argc, char **argv) {
  struct itimerval soon = {.it_interval.tv_usec = 20000, .it_value.tv_usec = 20000};
  printf("lost when killed\n");
  if (argv[1][0] == 'e')
    signal(SIGALRM, leave);
  setitimer(ITIMER_REAL, &soon, NULL);
  for (volatile unsigned long i = 0;; i++)
    ;
}
