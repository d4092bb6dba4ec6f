// Says whether a length of two bytes fits. The limit itself is where the versions differ.
#include <stdio.h>

int main(void) {
  int low = getchar(), high = getchar();
  if (high == EOF)
    return 2;
  unsigned length = (unsigned)high << 8 | (unsigned)low;
#if V == 1
  int fits = length <= 40961;
#else
  int fits = length < 40961;
#endif
  puts(fits ? "fits" : "too long");
  return 0;
}
