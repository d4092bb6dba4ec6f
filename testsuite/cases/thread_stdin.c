// Threads read piped input: those of several versions wait for the same input at once.
//@ link: -lpthread
//@ stdin: pipe "one\ntwo\nthree\nfour\n"
//@ expect: output
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void line(const char *who) {
  char byte;
  printf("%s %d: ", who, V);
  while (read(0, &byte, 1) == 1 && byte != '\n')
    putchar(byte);
  putchar('\n');
  fflush(stdout);
}

static void *reader(void *argument) {
  line(argument);
  return NULL;
}

int main(void) {
  for (int i = 0; i < 2; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, "thread");
    usleep(20000);
    pthread_join(thread, NULL);
  }
  line("main");
  char byte;
  printf("%zd\n", read(0, &byte, 1));
  return 0;
}
