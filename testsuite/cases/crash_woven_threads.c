// A thread of a version crashes while the mains of all wait in lock-step.
//@ levels: -O1
//@ link: -lpthread
//@ expect: both
//@ run: in 1
//@ args: 1
//@ run: in 2
//@ args: 2
//@ run: after main's thread wrote much
//@ args: 1 x
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int *volatile nowhere;
static int who;
static volatile int ready;

static void *work(void *unused) {
  while (!ready)
    usleep(100);
  if (who == V)
    *nowhere = 1;
  return unused;
}

int main(int argc, char **argv) {
  who = atoi(argv[1]);
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  for (int i = 0; i < (argc > 2 ? 10000 : 10); i++)
    printf("line %d\n", i);
  fflush(stdout);
  ready = 1;
  pthread_join(thread, NULL);
  printf("joined\n");
  return 0;
}
