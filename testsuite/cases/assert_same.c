// The same assertion fails in both versions: no difference, and still an error that the assert check reports.
//@ args: 1 2 3
//@ expect-check: p3: ...
#include <assert.h>
#include <stdio.h>

int main(int argc, char **argv) {
  setbuf(stdout, NULL);
  for (int i = 1; i < argc; i++) {
    assert(argv[i][0] != '3');
    puts(argv[i]);
  }
  return 0;
}
