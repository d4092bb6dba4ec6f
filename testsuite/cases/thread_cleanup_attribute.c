// Clean-ups by attribute (-fexceptions) of functions that a thread leaves by pthread_exit, by cancellation and out of a
// callback of libc. Who compiles the product (link) must not take what the runtime calls for code that never unwinds.
//@ cflags: -fexceptions
//@ link: -O2 -lpthread
//@ run: exits
//@ args: exit
//@ expect: output
//@ run: exits in a callback
//@ args: sort
//@ expect: output
//@ run: is cancelled
//@ args: pause
//@ expect: output
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *way;

static void clean(const int *what) { printf("clean %d\n", *what); }

static int compare(const void *a, const void *b) {
  int own __attribute__((cleanup(clean))) = 10 + V;
  if (*(const int *)a + *(const int *)b > 0)
    pthread_exit((void *)(long)V);
  return own - 10;
}

static void *run(void *unused) {
  int outer __attribute__((cleanup(clean))) = 1;
  if (!strcmp(way, "exit")) {
    int inner __attribute__((cleanup(clean))) = 2 * V;
    pthread_exit((void *)(long)V);
  }
  if (!strcmp(way, "sort")) {
    int numbers[] = {3, 1, 2};
    qsort(numbers, 3, sizeof *numbers, compare);
  }
  int waiting __attribute__((cleanup(clean))) = 20 + V;
  pause();
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;
  void *result;
  way = argv[1];
  if (pthread_create(&thread, NULL, run, NULL))
    return 1;
  if (!strcmp(way, "pause"))
    pthread_cancel(thread);
  pthread_join(thread, &result);
  printf("result %ld\n", result == PTHREAD_CANCELED ? -1L : (long)result);
  return 0;
}
