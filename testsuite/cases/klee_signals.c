// In KLEE, which has no signals and one process: a version's signals to itself, time and process numbers.
//@ args: a
//@ expect: none
//@ klee: none --sym-args 1 1 1
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int seen, order;

static void count(int number) { seen += number == SIGUSR1 ? 1 : 100; }

static void with_info(int number, siginfo_t *info, void *context) { order = info->si_signo == number; }

int main(int argc, char **argv) {
  sigset_t set, old;
  struct sigaction action;
  signal(SIGUSR1, count);
  signal(SIGUSR2, SIG_IGN);
  raise(SIGUSR1);
  raise(SIGUSR2);
  printf("%d\n", seen);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, &old);
  kill(getpid(), SIGUSR1);
  printf("%d\n", seen);
  sigprocmask(SIG_SETMASK, &old, NULL);
  printf("%d\n", seen);
  memset(&action, 0, sizeof action);
  action.sa_sigaction = with_info;
  action.sa_flags = SA_SIGINFO | SA_RESETHAND;
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  sigaction(SIGUSR1, NULL, &action);
  printf("%d %d\n", order, action.sa_handler == SIG_DFL);
  time_t now = time(NULL);
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  printf("%d\n", now != 0);
  if (argc > 1 && argv[1][0] == 'a')
    raise(SIGTERM);
  return now % 2 + 2 == 9;
}
