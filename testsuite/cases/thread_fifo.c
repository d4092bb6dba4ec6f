// Threads read FIFOs that they open, each its own, and one that the main thread has opened.
//@ link: -lpthread
//@ fifo: a 3000*"from a\n"
//@ fifo: b 2000*"out of b\n"
//@ fifo: c "one two three four"
//@ expect: output
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int common;
static long sizes[2];

static void *count(void *name) {
  char bytes[V == 2 ? 10 : 1000];
  int fd = open(name, O_RDONLY);
  for (long size; (size = read(fd, bytes, sizeof bytes)) > 0;)
    sizes[*(char *)name - 'a'] += size;
  close(fd);
  return NULL;
}

static void *take(void *bytes) {
  long size = read(common, bytes, 4);
  return (void *)size;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, count, "a");
  pthread_create(&b, NULL, count, "b");
  common = open("c", O_RDONLY);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  printf("%ld %ld\n", sizes[0], sizes[1]);
  for (int i = 0; i < V + 1; i++) {
    char bytes[4];
    void *size;
    pthread_create(&a, NULL, take, bytes);
    pthread_join(a, &size);
    printf("%ld: %.4s|\n", (long)size, bytes);
  }
  return 0;
}
