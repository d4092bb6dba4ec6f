// SIGCHLD of children of all versions, of which the kernel keeps one at most: each version gets its own, as often as
// alone and where it waits.
//@ run: both end while it is blocked
//@ args: b
//@ expect: output
//@ run: sleeping
//@ args: s
//@ expect: output
//@ run: reading
//@ args: r
//@ expect: output
//@ run: reaped in the handler
//@ args: h
//@ expect: output
//@ run: reaped before
//@ args: w
//@ expect: output
//@ run: one version more
//@ args: m
//@ expect: output
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILDREN 6

static volatile int count, reaped;
static int ends[2];

static void note(int number) { count++; }

static void reap(int number) {
  int error = errno;
  while (waitpid(-1, NULL, WNOHANG) > 0)
    reaped++;
  errno = error;
}

static void on_child(void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigaction(SIGCHLD, &action, NULL);
}

/* A child that ends when the pipe is closed, or after a time. */
static pid_t start(int milliseconds) {
  pid_t child = fork();
  if (child)
    return child;
  char byte;
  close(ends[1]);
  if (milliseconds < 0)
    read(ends[0], &byte, 1);
  else
    usleep(milliseconds * 1000);
  _exit(0);
}

static void let_go(void) {
  close(ends[1]);
  pipe(ends);
}

/* Leaves it waiting to be waited for. */
static void until_over(pid_t child) {
  siginfo_t info;
  while (waitid(P_PID, child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
    ;
}

static sigset_t block(void) {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, &before);
  return before;
}

int main(int argc, char **argv) {
  sigset_t before;
  char byte;
  pipe(ends);
  printf("version %d\n", V);
  switch (argv[1][0]) {
  case 'b': {
    on_child(note, SA_RESTART);
    before = block();
    pid_t first = start(-1), second = start(-1);
    let_go();
    until_over(first);
    until_over(second);
    printf("%d ", count);
    sigprocmask(SIG_SETMASK, &before, NULL);
    printf("%d ", count);
    wait(NULL);
    wait(NULL);
    printf("%d\n", count);
    break;
  }
  case 's': {
    struct timespec time = {9, 0}, left;
    on_child(note, SA_RESTART);
    start(50);
    printf("%d ", nanosleep(&time, &left));
    printf("%d %d\n", left.tv_sec > 0, count);
    break;
  }
  case 'r':
    on_child(note, 0);
    start(50);
    printf("%zd ", read(ends[0], &byte, 1));
    printf("%d %d\n", errno == EINTR, count);
    break;
  case 'h':
    on_child(reap, SA_RESTART);
    before = block();
    for (int i = 0; i < CHILDREN; i++)
      start(i % 2 ? -1 : i);
    let_go();
    while (reaped < CHILDREN)
      sigsuspend(&before);
    printf("%d\n", reaped);
    break;
  case 'w':
    on_child(note, SA_RESTART);
    for (int i = 1; i <= CHILDREN; i++) {
      waitpid(start(0), NULL, 0);
      printf("%d ", count == i);
    }
    puts("");
    break;
  case 'm':
    /* Without a handler nothing may become of it later. */
    if (V == 2)
      on_child(note, 0);
    waitpid(start(0), NULL, 0);
    on_child(note, 0);
    usleep(1000);
    printf("%d\n", count);
  }
  return 0;
}
