// sigaltstack: a handler for the overflow of the stack, on the stack of the program's choice.
//@ expect: output
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static char *stack;
enum { SIZE = 65536 };
static sigjmp_buf back;

static int is_on_it(void) {
  char here;
  return &here >= stack && &here < stack + SIZE;
}

static void overflow(int number, siginfo_t *info, void *context) {
  stack_t now;
  sigaltstack(NULL, &now);
  printf("overflow: on it %d, says %d\n", is_on_it(), now.ss_flags);
  siglongjmp(back, 1);
}

static void other(int number) { printf("other: on it %d\n", is_on_it()); }

__attribute__((noinline)) static int deeper(volatile int depth) {
  volatile char frame[1000];
  frame[depth % 1000] = (char)depth;
  return depth < 0 ? 0 : deeper(depth + 1) + frame[0];
}

int main(void) {
  stack_t now;
  sigaltstack(NULL, &now);
  printf("none: %d\n", now.ss_flags == SS_DISABLE);
  stack = malloc(SIZE);
  stack_t mine = {.ss_sp = stack, .ss_size = SIZE};
  printf("%d\n", sigaltstack(&mine, NULL));
  struct sigaction action = {.sa_sigaction = overflow, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
  for (volatile int i = 0; i < 1 + V; i++)
    if (sigsetjmp(back, 1) == 0)
      printf("%d\n", deeper(0));
  signal(SIGUSR1, other);
  raise(SIGUSR1);
  action = (struct sigaction){.sa_handler = other, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  mine.ss_flags = SS_DISABLE;
  sigaltstack(&mine, &now);
  printf("%d\n", now.ss_sp == stack);
  sigaltstack(NULL, &now);
  printf("none: %d\n", now.ss_flags == SS_DISABLE);
  return 0;
}
