// siglongjmp out of a SIGSEGV handler, as programs that probe memory do.
//@ expect: output
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf back;
static void handler(int signal) { siglongjmp(back, signal); }

int main(void) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGSEGV, &action, NULL);
  for (volatile int i = 0; i < 1 + V; i++) {
    int signal = sigsetjmp(back, 1);
    if (signal == 0) {
      *(volatile int *)8 = 1;
      puts("never printed");
    }
    printf("%d: caught %d\n", i, signal == SIGSEGV);
  }
  return 0;
}
