// Inline assembly that names functions and variables, defines a symbol, and has instructions called like functions.
//@ run: plain
//@ args: 4
//@ expect: output
//@ run: the function that it calls ends the program
//@ args: 9
//@ expect: status
#include <stdio.h>
#include <stdlib.h>

int table[4] = {10, 20, 30, 40 + V};

__attribute__((noinline, used)) int twice(int x) {
  if (x > 7) {
    printf("too much: %d\n", x);
    exit(V + 2);
  }
  return 2 * x;
}

static int nop(int x) {
  __asm__ volatile("nop");
  return x + V;
}

extern char here[];

__attribute__((noinline)) static long label(void) {
  long found;
  __asm__("here: leaq here(%%rip), %0" : "=r"(found));
  return found - (long)here;
}

int main(int argc, char **argv) {
  int value = argc > 1 ? atoi(argv[1]) : 1, result;
  const int *numbers;
  __asm__("leaq table(%%rip), %0" : "=r"(numbers));
  // The stack below its pointer is not the function's own here.
  __asm__ volatile("subq $128, %%rsp\n\t"
                   "pushq %%rbx\n\tmovq %%rsp, %%rbx\n\tandq $-16, %%rsp\n\t"
                   "call twice # not nop\n\t"
                   "movq %%rbx, %%rsp\n\tpopq %%rbx\n\taddq $128, %%rsp"
                   : "=a"(result), "+D"(value)
                   :
                   : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3",
                     "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  printf("%d %d %d %ld\n", result, numbers[3], nop(5), label());
  return 0;
}
