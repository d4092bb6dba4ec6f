// Order at exit: handlers, destructors, then the FILEs; output written in each of them arrives, also by raw write.
//@ expect: both
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static FILE *own;

static void handler(void) { printf("handler\n"); }

static void with_status(int status, void *text) {
  printf("%s %d\n", (char *)text, status);
  if (status == 2)
    exit(7);
}

__attribute__((destructor)) static void destroy(void) {
  printf("destructor\n");
  write(1, "raw\n", 4);
  fprintf(own, "own stream\n");
}

int main(void) {
  own = fdopen(dup(2), "w");
  setvbuf(own, NULL, _IOFBF, 64);
  atexit(handler);
  on_exit(with_status, "status");
  printf("main\n");
  exit(V);
}
