// Sixteen versions, the most there can be.
//@ versions: 16
//@ levels: -O1
//@ expect: output
#include <stdio.h>

int main(void) {
  static int numbers[V];
  numbers[V - 1] = V;
  printf("%d\n", numbers[0] + numbers[V - 1]);
  return 0;
}
