// What the first version changes in the process is not what the second one finds.
//@ expect: both
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
#if V == 1
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  signal(SIGINT, SIG_IGN);
  signal(SIGCHLD, SIG_IGN);
  umask(0777);
  chdir("/");
  alarm(1);
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  nice(5);
  setsid();
  raise(SIGTERM);
  if (fork() == 0) {
    usleep(100000);
    _exit(0);
  }
  kill(getpid(), SIGKILL);
#else
  sigset_t mask;
  struct rlimit limit;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  printf("mask");
  for (int number = 1; number < 32; number++)
    printf(" %d", sigismember(&mask, number));
  printf("\nint %d\n", signal(SIGINT, SIG_DFL) == SIG_DFL);
  printf("umask %o\n", umask(0));
  printf("nice %d\n", getpriority(PRIO_PROCESS, 0));
  printf("system %d\n", WEXITSTATUS(system("exit 3")));
  printf("wait %d\n", wait(NULL));
  printf("pending %d\n", sigpending(&mask) == 0 && sigismember(&mask, SIGTERM));
#endif
  return 0;
}
