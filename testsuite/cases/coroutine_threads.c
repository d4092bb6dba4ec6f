// Coroutines of threads: the version ends in one, and one that a thread has left runs on main's thread.
//@ cflags: -pthread
//@ link: -pthread
//@ run: exit
//@ args: e
//@ expect: both
//@ run: an entry function returns
//@ args: r
//@ expect: none
//@ run: on another thread
//@ args: a
//@ expect: both
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t back, coroutine;
static char stack[65536];
static char what;

static void bye(void) { puts("bye"); }

static void body(void) {
  puts("in the coroutine");
  if (what == 'e' && V == 2)
    exit(4);
  if (what == 'r')
    return;
  swapcontext(&coroutine, &back);
  printf("again %d\n", V);
  exit(5 + V);
}

static void *run(void *argument) {
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack;
  coroutine.uc_stack.ss_size = sizeof stack;
  coroutine.uc_link = NULL;
  makecontext(&coroutine, body, 0);
  swapcontext(&back, &coroutine);
  puts("thread ends");
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;
  what = argv[1][0];
  atexit(bye);
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
  puts("joined");
  if (what == 'a')
    swapcontext(&back, &coroutine);
  return 3;
}
