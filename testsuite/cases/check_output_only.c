// With --check output a different status alone is no failure; it shows in the combined status.
//@ merge: --check output
//@ run: status
//@ args: s
//@ expect: status
//@ run: output
//@ args: o
//@ expect: output
//@ expect-check: p3: ...
#include <stdio.h>

int main(int argc, char **argv) {
  if (argv[1][0] == 'o')
    printf("%d", V);
  return argv[1][0] == 's' ? V - 1 : 0;
}
