// Whether the argument has a digit. The new version toggles, and is wrong about an even number of digits.
#include <stdio.h>

int main(int argc, char **argv) {
  int found = 0;
  for (const char *p = argc > 1 ? argv[1] : ""; *p; p++)
    if (*p >= '0' && *p <= '9')
#if V == 1
      found = 1;
#else
      found ^= 1;
#endif
  if (found)
    puts("digit");
  else
    puts("none");
  return 0;
}
