// Trims blanks and folds case. The new version is another way to write the old one.
#include <stdio.h>
#include <string.h>

#if V == 1
static void normalise(char *text) {
  size_t start = 0, length = strlen(text);
  while (start < length && text[start] == ' ')
    start++;
  while (length > start && text[length - 1] == ' ')
    length--;
  for (size_t i = start; i < length; i++) {
    char c = text[i];
    if (c >= 'A' && c <= 'Z')
      c = c - 'A' + 'a';
    text[i - start] = c;
  }
  text[length - start] = 0;
}
#else
static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static void normalise(char *text) {
  char *to = text, *end = text;
  for (char *from = text + strspn(text, " "); *from; from++) {
    *to++ = lower(*from);
    if (*from != ' ')
      end = to;
  }
  *end = 0;
}
#endif

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  normalise(argv[1]);
  puts(argv[1]);
  return 0;
}
