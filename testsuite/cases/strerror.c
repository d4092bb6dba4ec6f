// strerror and strsignal, known and unknown numbers, and the buffers behind them.
//@ args: 2 13 9999
//@ expect: output
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    puts(strerror(atoi(argv[i])));
  char *unknown = strerror(12345 + V);
  puts(unknown);
  printf("%s %s %s\n", strsignal(11), strsignal(200), strsignal(-1));
  char space[80];
  puts(strerror_r(7777, space, sizeof space));
  printf("%s %s\n", strerrorname_np(2), sigabbrev_np(15));
  errno = 2;
  printf("%m\n");
  return 0;
}
