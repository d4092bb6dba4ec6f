// %m, %n, positional arguments, snprintf's length, and stdout's error state.
//@ expect: output
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

int main(void) {
  int before = 0;
  errno = V == 2 ? ENOENT : EACCES;
  printf("%m %d\n", errno != 0);
  printf("%2$s %1$d %3$.*4$f\n", 7, "pos", 2.71828, 2);
  printf("abc%n\n", &before);
  char small[5];
  int length = snprintf(small, sizeof small, "%d", 1234567);
  printf("%d %s %d\n", length, small, before);
  printf("%5.1f|%-8s|%+d|%x|%o|%e|%g|%a|%c|%%|%p\n", 3.14159, "ab", 5, 255, 8, 12345.678, 1e-10, 1.5, 'z', (void *)0);
  printf("%hhd %hd %ld %lld %zu %td %ju\n", 300, 70000, 1L << 40, 1LL << 50, sizeof small, (&small[3] - small), (uintmax_t)9);
  printf("%d\n", ferror(stdout));
  return 0;
}
