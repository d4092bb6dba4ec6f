// A storm of signals in one version: its calls end with EINTR or are retried; the other version never sees one.
//@ expect: output
//@ stdin: pipe 100000*"line\n"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t rung;
static void on_alarm(int number) { rung++; }

int main(void) {
  if (V == 2) {
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 200}, {0, 200}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
  }
  long bytes = 0, sum = 0;
  char buffer[100];
  for (;;) {
    ssize_t got = read(0, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    for (ssize_t i = 0; i < got; i++) sum = sum * 31 + buffer[i];
    bytes += got;
  }
  printf("%ld %lx\n", bytes, sum);
  int ends[2];
  if (pipe(ends) != 0) return 1;
  pid_t child = fork();
  if (child == 0) {
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    close(ends[0]);
    for (int i = 0; i < 30; i++) {
      usleep(1000);
      if (write(ends[1], "x", 1) != 1) _exit(1);
    }
    _exit(7);
  }
  close(ends[1]);
  int count = 0;
  for (;;) {
    ssize_t got = read(ends[0], buffer, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    count++;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) ;
  printf("%d %d\n", count, WEXITSTATUS(status));
  struct timespec time = {0, 20000000}, left;
  while (nanosleep(&time, &left) != 0 && errno == EINTR) time = left;
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%d\n", rung > 10);
  return 0;
}
