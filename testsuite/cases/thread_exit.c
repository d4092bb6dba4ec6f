// Ends that involve threads: exit on a thread, pthread_exit in main, pthread_exit as the last thread's end.
//@ cflags: -pthread
//@ link: -pthread
//@ run: exit on a thread
//@ args: e
//@ expect: both
//@ run: pthread_exit in main
//@ args: p
//@ expect: output
//@ run: thread goes on while main returns
//@ args: r
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void handler(void) { puts("handler"); }

static void *leave(void *argument) {
  printf("thread exits %d\n", V);
  exit(40 + V);
}

static void *slow(void *argument) {
  usleep(30000);
  printf("main is gone %d\n", V);
  return NULL;
}

static void *forever(void *argument) {
  for (;;)
    pause();
}

int main(int argc, char **argv) {
  pthread_t thread;
  atexit(handler);
  switch (argv[1][0]) {
  case 'e':
    pthread_create(&thread, NULL, leave, NULL);
    pthread_join(thread, NULL);
    for (;;)
      pause();
  case 'p':
    pthread_create(&thread, NULL, slow, NULL);
    pthread_exit(NULL);
  }
  pthread_create(&thread, NULL, forever, NULL);
  puts("returns");
  return 0;
}
