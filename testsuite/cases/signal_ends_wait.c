// A signal ends a wait for children with EINTR, or does not with SA_RESTART, also with a thread that waits, too.
//@ link: -lpthread
//@ levels: -O1
//@ run: restarted
//@ args: m
//@ expect: output
//@ run: ended, beside a thread that waits
//@ args: t
//@ expect: output
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int handled;

static void handle(int signal) { handled++; }

static pid_t begin(int milliseconds, int status) {
  pid_t child = fork();
  if (child == 0) {
    usleep(milliseconds * 1000);
    _exit(status);
  }
  return child;
}

static void *waits(void *unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  pid_t child = begin(1900, 50 + V);
  int status = 0;
  pid_t got = waitpid(child, &status, 0);
  printf("thread: %d, status %d\n", got == child, WEXITSTATUS(status));
  return NULL;
}

/* Not woven, so that the versions' alarms are apart: one that came just when its version begins to wait would be handled
 * before the wait, on a busy machine. */
static void arm(int seconds, ...) {
  alarm(seconds);
  usleep(100000);
}

static void try_it(int flags) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
  sigaction(SIGALRM, &action, NULL);
  handled = 0;
  pid_t child = begin(1600, 40 + V);
  arm(1);
  int status = 0;
  pid_t got = waitpid(child, &status, 0);
  printf("%s: %s, handled %d\n", flags ? "restart" : "interrupt", got == child ? "the child" : strerror(errno), handled);
  while (got != child)
    got = waitpid(child, &status, 0);
  printf("status %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv) {
  pthread_t thread;
  if (argv[1][0] == 't')
    pthread_create(&thread, NULL, waits, NULL);
  try_it(argv[1][0] == 't' ? 0 : SA_RESTART);
  if (argv[1][0] == 't')
    pthread_join(thread, NULL);
  return 0;
}
