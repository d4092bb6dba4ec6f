// Signals and threads: pthread_kill, a thread that waits for signals, a crash on a thread, cancellation.
//@ cflags: -pthread
//@ link: -pthread
//@ run: handled
//@ args: h
//@ expect: status
//@ run: fatal
//@ args: f
//@ run: crash
//@ args: c
//@ run: waiter
//@ args: w
//@ expect: output
//@ run: cancel
//@ args: n
//@ expect: output
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_t main_thread;
static volatile int seen;
static sigset_t set;

static void note(int number) { seen = 1 + !!pthread_equal(pthread_self(), main_thread); }

static void *forever(void *argument) {
  for (;;)
    pause();
}

static void *crash(void *argument) {
  puts("before");
  fflush(stdout);
  *(volatile int *)argument = 1;
  return NULL;
}

static void *waiter(void *argument) {
  int number;
  do {
    sigwait(&set, &number);
    printf("got %d\n", number);
  } while (number != SIGTERM);
  return NULL;
}

static void clean_up(void *text) { printf("clean up %s\n", (char *)text); }

static void *cancelled(void *argument) {
  pthread_cleanup_push(clean_up, "thread");
  for (;;)
    pause();
  pthread_cleanup_pop(0);
  return NULL;
}

static void *canceller(void *argument) {
  usleep(20000);
  pthread_cancel(main_thread);
  void *result;
  printf("join %d", pthread_join(main_thread, &result));
  printf(" %d\n", result == PTHREAD_CANCELED);
  return NULL;
}

static void until_seen(void) {
  while (!seen)
    usleep(1000);
  printf("%d\n", seen);
  seen = 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  void *result;
  main_thread = pthread_self();
  signal(SIGUSR1, note);
  switch (argv[1][0]) {
  case 'h':
    pthread_create(&thread, NULL, forever, NULL);
    pthread_kill(thread, SIGUSR1);
    until_seen();
    raise(SIGUSR1);
    until_seen();
    pthread_kill(main_thread, SIGUSR1);
    until_seen();
    return V;
  case 'f':
    pthread_create(&thread, NULL, forever, NULL);
    pthread_kill(thread, SIGTERM);
    for (;;)
      pause();
  case 'c':
    pthread_create(&thread, NULL, crash, NULL);
    pthread_join(thread, NULL);
    return 0;
  case 'w':
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, waiter, NULL);
    for (int i = 0; i < V; i++) {
      kill(getpid(), SIGUSR2);
      usleep(50000);
    }
    pthread_kill(thread, SIGTERM);
    pthread_join(thread, NULL);
    return 0;
  }
  pthread_create(&thread, NULL, cancelled, NULL);
  usleep(10000);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  printf("%d\n", result == PTHREAD_CANCELED);
  pthread_create(&thread, NULL, canceller, NULL);
  pthread_cleanup_push(clean_up, V == 2 ? "main 2" : "main");
  for (;;)
    pause();
  pthread_cleanup_pop(0);
}
