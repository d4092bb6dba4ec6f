//@ link: -lpthread
//@ run: join
//@ args: join
//@ expect: both
//@ run: spin
//@ args: spin
//@ expect: both
//@ run: lock
//@ args: lock
//@ expect: both
//@ run: signal
//@ args: signal
//@ expect: both
// A thread ends one version while main waits for it, by a call or in a loop, and the other version goes on.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int went;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const char *how;

static void *work(void *argument) {
  printf("the thread of %s\n", how);
  if (V == 2 && strcmp(how, "signal") == 0)
    raise(SIGTERM);
  if (V == 2)
    exit(5);
  pthread_mutex_lock(&mutex);
  went = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  return argument;
}

int main(int argc, char **argv) {
  pthread_t thread;
  how = argc > 1 ? argv[1] : "join";
  pthread_create(&thread, NULL, work, NULL);
  if (strcmp(how, "spin") == 0) {
    while (!went)
      ;
  } else if (strcmp(how, "lock") == 0) {
    pthread_mutex_lock(&mutex);
    while (!went)
      pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
  }
  pthread_join(thread, NULL);
  puts("main goes on");
  return 0;
}
