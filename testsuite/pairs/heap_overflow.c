// Doubles every quote. The old version makes no room for a quote at the end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *doubled(const char *text) {
  size_t length = strlen(text), quotes = 0;
#if V == 1
  for (size_t i = 0; i + 1 < length; i++)
#else
  for (size_t i = 0; i < length; i++)
#endif
    quotes += text[i] == '"';
  char *result = malloc(length + quotes + 1);
  char *to = result;
  for (; *text; text++) {
    if (*text == '"')
      *to++ = '"';
    *to++ = *text;
  }
  *to = 0;
  return result;
}

int main(int argc, char **argv) {
  char *result = doubled(argc > 1 ? argv[1] : "");
  printf("\"%s\"\n", result);
  free(result);
  return 0;
}
