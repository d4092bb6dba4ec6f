// Compares two names. The new version refuses to compare a name with itself.
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("two names expected\n", stderr);
    return 2;
  }
  const char *a = argv[1], *b = argv[2];
#if V == 2
  if (*a && strcmp(a, b) == 0) {
    fputs("the names are equal\n", stderr);
    return 2;
  }
#endif
  puts(strcmp(a, b) <= 0 ? a : b);
  return 0;
}
