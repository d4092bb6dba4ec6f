// Waiting for signals: sigsuspend, sigwait, sigtimedwait, signalfd, sigpending, queued real-time signals.
//@ expect: output
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int count;
static volatile pid_t sender;

static void on_child(int number, siginfo_t *info, void *context) {
  int saved = errno;
  sender = info->si_pid;
  while (waitpid(-1, NULL, WNOHANG) > 0)
    count++;
  errno = saved;
}

static void on_queued(int number, siginfo_t *info, void *context) {
  printf("queued %d %d %d\n", number - SIGRTMIN, info->si_value.sival_int, info->si_code == SI_QUEUE);
}

int main(void) {
  sigset_t set, before;
  int number;
  struct sigaction action = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NOCLDSTOP};
  sigaction(SIGCHLD, &action, NULL);
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, &before);
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  while (count == 0)
    sigsuspend(&before);
  printf("%d %d\n", count, sender == child);
  sigprocmask(SIG_SETMASK, &before, NULL);

  signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < 2 + V; i++)
    if (fork() == 0)
      _exit(i);
  printf("%d ", wait(NULL));
  printf("%d\n", errno == ECHILD);
  signal(SIGCHLD, SIG_DFL);

  action = (struct sigaction){.sa_sigaction = on_queued, .sa_flags = SA_SIGINFO};
  sigaction(SIGRTMIN + 1, &action, NULL);
  sigaction(SIGRTMIN + 2, &action, NULL);
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 1);
  sigaddset(&set, SIGRTMIN + 2);
  sigprocmask(SIG_BLOCK, &set, NULL);
  for (int i = 0; i < 1 + V; i++) {
    sigqueue(getpid(), SIGRTMIN + 2, (union sigval){i});
    sigqueue(getpid(), SIGRTMIN + 1, (union sigval){10 + i});
  }
  sigprocmask(SIG_UNBLOCK, &set, NULL);

  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(SIGUSR1);
  sigpending(&before);
  printf("pending %d %d\n", sigismember(&before, SIGUSR1), sigismember(&before, SIGUSR2));
  sigwait(&set, &number);
  printf("waited %d\n", number == SIGUSR1);
  struct timespec soon = {0, 1000000};
  siginfo_t info;
  printf("%d ", sigtimedwait(&set, &info, &soon));
  printf("%d\n", errno == EAGAIN);
  int fd = signalfd(-1, &set, 0);
  struct signalfd_siginfo read_info;
  kill(getpid(), SIGUSR2);
  printf("%zd ", read(fd, &read_info, sizeof read_info));
  printf("%d %d\n", fd, read_info.ssi_signo == SIGUSR2);

  child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    for (;;)
      pause();
  }
  int status;
  waitpid(child, &status, WUNTRACED);
  printf("stopped %d\n", WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
  kill(child, SIGCONT);
  waitpid(child, &status, WCONTINUED);
  printf("continued %d\n", WIFCONTINUED(status));
  kill(child, SIGTERM);
  waitid(P_PID, child, &info, WEXITED);
  printf("%d %d %d\n", info.si_pid == child, info.si_code == CLD_KILLED, info.si_status);
  /* Ends with a signal pending that the next version must not get. */
  raise(SIGUSR1);
  return 0;
}
