// The signal mask and pending signals belong to one version: what one blocks the other still receives.
//@ expect: output
#include <signal.h>
#include <stdio.h>

static void handler(int signal) { printf("handler %d\n", signal == SIGUSR2); }

static void show(const char *when) {
  sigset_t set;
  sigprocmask(SIG_BLOCK, NULL, &set);
  printf("%s: blocked %d", when, sigismember(&set, SIGUSR2));
  sigpending(&set);
  printf(" pending %d\n", sigismember(&set, SIGUSR2));
}

int main(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  signal(SIGUSR2, handler);
  show("start");
#if V == 1
  sigprocmask(SIG_BLOCK, &set, NULL);
#endif
  raise(SIGUSR2);
  show("raised");
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  show("unblocked");
  sigprocmask(SIG_BLOCK, &set, NULL);
  return 0;
}
