// Splits KEY:VALUE. The versions agree unless there is a second colon.
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
#if V == 1
  char *colon = strchr(argv[1], ':');
#else
  char *colon = strrchr(argv[1], ':');
#endif
  if (!colon) {
    puts("no value");
    return 1;
  }
  *colon = 0;
  printf("key %s, value %s\n", argv[1], colon + 1);
  return 0;
}
