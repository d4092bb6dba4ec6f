// Signals that come for all versions while the first one waits: each of them gets its own where it waits itself.
//@ run: pause
//@ args: p
//@ expect: output
//@ run: read
//@ args: r
//@ expect: output
//@ run: sleep
//@ args: s
//@ expect: output
//@ run: poll
//@ args: l
//@ expect: output
//@ run: from a child
//@ args: c
//@ expect: output
//@ run: two children at once
//@ args: t
//@ expect: output
//@ run: without a call
//@ args: b
//@ expect: output
//@ run: ends by it
//@ args: e
//@ expect: both
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int count;

static void note(int number) { count++; }

static void note_and_print(int number) {
  count++;
  printf("handler %d\n", V);
}

static void on(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigaction(number, &action, NULL);
}

/* The second version's comes while the first one still waits. */
static void signal_soon(int number) {
  if (fork() == 0) {
    usleep(V == 1 ? 120000 : 30000);
    kill(getppid(), number);
    _exit(0);
  }
}

int main(int argc, char **argv) {
  int ends[2];
  char byte;
  pipe(ends);
  printf("version %d\n", V);
  switch (argv[1][0]) {
  case 'p':
    on(SIGALRM, note_and_print, 0);
    ualarm(100000, 0);
    count = 0;
    printf("%d ", pause());
    printf("%d %d\n", errno == EINTR, count);
    break;
  case 'r':
    on(SIGALRM, note, 0);
    ualarm(100000, 0);
    count = 0;
    printf("%zd ", read(ends[0], &byte, 1));
    printf("%d %d\n", errno == EINTR, count);
    break;
  case 's': {
    struct timespec time = {9, 0}, left;
    on(SIGALRM, note, SA_RESTART);
    ualarm(100000, 0);
    printf("%d ", nanosleep(&time, &left));
    printf("%d %d\n", errno == EINTR, left.tv_sec > 0 && count == 1);
    break;
  }
  case 'l': {
    struct pollfd polled = {ends[0], POLLIN, 0};
    on(SIGALRM, note, SA_RESTART);
    if (V == 1)
      ualarm(100000, 0);
    printf("%d ", poll(&polled, 1, 250));
    printf("%d %d\n", count, V == 2 ? 0 : errno == EINTR);
    break;
  }
  case 'c':
    on(SIGUSR1, note_and_print, 0);
    signal_soon(SIGUSR1);
    while (!count)
      pause();
    while (wait(NULL) < 0 && errno == EINTR)
      ;
    break;
  case 't': {
    sigset_t set, before;
    on(SIGCHLD, note, SA_RESTART);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &before);
    for (int i = 0; i < 2; i++)
      if (fork() == 0) {
        close(ends[1]);
        read(ends[0], &byte, 1);
        _exit(i);
      }
    close(ends[1]);
    int ended = 0;
    while (ended < 2) {
      sigsuspend(&before);
      while (waitpid(-1, NULL, WNOHANG) > 0)
        ended++;
    }
    printf("%d\n", count >= 1 && count <= 2);
    break;
  }
  case 'b':
    on(SIGALRM, note, 0);
    ualarm(100000, 0);
    while (!count)
      ;
    puts("out");
    break;
  case 'e':
    if (V == 1)
      on(SIGALRM, note_and_print, 0);
    ualarm(100000, 0);
    pause();
    printf("after %d\n", count);
  }
  return 0;
}
