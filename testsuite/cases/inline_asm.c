// Inline assembly with inputs, outputs, clobbers, memory operands, local labels and asm goto.
//@ expect: output
#include <stdio.h>

static int add(int a, int b) {
  __asm__("addl %1, %0" : "+r"(a) : "r"(b) : "cc");
  return a;
}

static int loop(int n) {
  int sum = 0;
  __asm__ volatile("1: addl %1, %0\n\tdecl %1\n\tjnz 1b" : "+r"(sum), "+r"(n) : : "cc");
  return sum;
}

static int is_odd(int n) {
  __asm__ goto("testl $1, %0\n\tjnz %l1" : : "r"(n) : "cc" : odd);
  return 0;
odd:
  return 1;
}

int main(void) {
  int memory = 1;
  __asm__ volatile("movl %1, %0" : "=m"(memory) : "i"(40 + V) : "memory");
  register int in_register __asm__("r12") = 9;
  __asm__ volatile("" : "+r"(in_register));
  printf("%d %d %d %d %d %d\n", add(2, 3), loop(10), is_odd(3), is_odd(4), memory, in_register);
  return 0;
}
