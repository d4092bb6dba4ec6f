// Three coroutines take turns in functions that are woven; versions end in different ones, at different times.
//@ versions: 2 3
//@ run: one at a time
//@ args: 1
//@ expect: both
//@ run: one goes on
//@ args: 3
//@ expect: none
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t main_context, coroutines[3];
static char stacks[3][65536];

static void bye(void) { puts("bye"); }

static void body(int number) {
  for (int i = 0; i < 5; i++) {
    printf("coroutine %d step %d\n", number, i);
    if (number == 2 && i == V && V > 1)
      exit(6 + V);
    swapcontext(&coroutines[number], &main_context);
  }
  printf("coroutine %d ends\n", number);
}

__attribute__((noinline)) static void make(int number) {
  ucontext_t *context = &coroutines[number];
  getcontext(context);
  context->uc_stack.ss_sp = stacks[number];
  context->uc_stack.ss_size = sizeof stacks[number];
  context->uc_link = NULL;
  makecontext(context, (void (*)(void))body, 1, number);
}

__attribute__((noinline)) static void step(int number) {
  printf("step %d\n", number);
  swapcontext(&main_context, &coroutines[number % 3]);
  printf("back %d\n", number);
}

int main(int argc, char **argv) {
  int stride = atoi(argv[1]);
  atexit(bye);
  for (int i = 0; i < 3; i++)
    make(i);
  for (int i = 0; i < 100; i++)
    step(i * stride);
  return 1;
}
