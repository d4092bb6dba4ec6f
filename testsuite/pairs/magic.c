// The new version knows one more kind of file, by the four bytes that it begins with.
#include <stdio.h>
#include <string.h>

int main(void) {
  char head[4] = "";
  size_t size = fread(head, 1, sizeof head, stdin);
#if V == 2
  if (size == 4 && memcmp(head, "\x89Pq7", 4) == 0)
    puts("picture");
  else
#endif
  if (size >= 2 && memcmp(head, "#!", 2) == 0)
    puts("script");
  else
    puts("data");
  return 0;
}
