// Calls through pointers of functions that take narrow integers and leave it to the caller to extend them: in lock-step
// the pointers go through a dispatcher, which finds no product function for code that was written in assembly.
//@ run: equal
//@ args: 1 300
//@ run: different
//@ args: 2 77
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

__asm__(".text\n"
        "as_signed: movslq %edi, %rax; ret\n"
        "as_unsigned: movl %edi, %eax; ret\n"
        "as_short: movslq %edi, %rax; movslq %esi, %rcx; subq %rcx, %rax; ret\n"
        ".data\n.balign 8\n"
        "signed_pointer: .quad as_signed\n"
        "unsigned_pointer: .quad as_unsigned\n"
        "short_pointer: .quad as_short\n"
        ".text\n");
extern long (*signed_pointer)(signed char);
extern long (*unsigned_pointer)(unsigned char);
extern long (*short_pointer)(short, short);

static long own_signed(signed char value) { return value + 1000L; }
static long own_short(short value, short other) { return value * 1000L + other; }

static long own_unsigned(unsigned char value) { return value ^ 5; }
static long (*of_char[])(signed char) = {0, own_signed};
static long (*of_unsigned[])(unsigned char) = {own_unsigned, 0};
static long (*of_short[])(short, short) = {own_short, 0};

int main(int argc, char **argv) {
  int step = argc > 1 ? atoi(argv[1]) : 1, start = argc > 2 ? atoi(argv[2]) : 0;
  long sum = 0;
  of_char[0] = signed_pointer;
  of_unsigned[1] = unsigned_pointer;
  of_short[1] = short_pointer;
  for (int i = 0; i < 40; i += step) {
    int value = start * 7919 + i * 104729;
    if (V == 2 && step == 2)
      value += 3;
    sum += of_char[i % 2]((signed char)value);
    sum = sum * 3 + of_unsigned[i % 2]((unsigned char)(value >> 3));
    sum ^= of_short[i % 2]((short)(value * 5), (short)(value + i));
    printf("%d: %ld\n", i, sum);
  }
  return sum & 1;
}
