// A scan of a symbolic string, woven with itself: as many paths as alone.
//@ args: ab1
//@ klee: paths-equal --sym-arg 5
#include <stdio.h>

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : "";
  int digits = 0, in_word = 0, words = 0;
  for (int i = 0; s[i]; i++) {
    if (s[i] >= '0' && s[i] <= '9')
      digits = 1;
    if (s[i] == ' ') {
      in_word = 0;
    } else if (!in_word) {
      in_word = 1;
      words++;
    }
  }
  return 2 * words + digits;
}
