// Threads with a mutex, a condition, thread-specific data and thread-local variables.
//@ cflags: -pthread
//@ link: -pthread
//@ expect: output
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int total, finished;
static _Thread_local int mine = 10;

static void destroy(void *value) {
  pthread_mutex_lock(&lock);
  total += 1000;
  pthread_mutex_unlock(&lock);
}

static void make_key(void) {
  pthread_key_create(&key, destroy);
  puts("once");
}

static void *work(void *argument) {
  pthread_once(&once, make_key);
  pthread_setspecific(key, argument);
  for (int i = 0; i < 1000; i++) {
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    mine++;
  }
  pthread_mutex_lock(&lock);
  finished++;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return (void *)(long)mine;
}

int main(void) {
  enum { COUNT = 2 + V };
  pthread_t threads[COUNT];
  for (int i = 0; i < COUNT; i++)
    pthread_create(&threads[i], NULL, work, &threads[i]);
  pthread_mutex_lock(&lock);
  while (finished < COUNT)
    pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < COUNT; i++) {
    void *result;
    pthread_join(threads[i], &result);
    printf("%ld ", (long)result);
  }
  printf("%d %d\n", total, mine);
  return 0;
}
