// Assembly outside functions that defines nothing another version could see.
//@ expect: output
#include <stdio.h>

__asm__(".section .note.testsuite,\"\",@progbits\n\t.asciz \"note\"\n\t.previous");

int main(void) {
  printf("version %d\n", V);
  return 0;
}
