// Functions that return text in a buffer of libc: strerror, strsignal, l64a, ecvt, fcvt, ctermid, cuserid.
//@ link: -lm
//@ run: same
//@ run: other numbers
//@ args: 5
//@ expect: output
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int number = argc > 1 ? 1000 + V : 1000, point, sign;
  char *known = strerror(ENOENT), *unknown = strerror(number);
  printf("%s, %s\n", known, unknown);
  errno = EIO;
  strerror(-number);
  printf("%s, %s, %m\n", known, unknown);
  char *signal = strsignal(SIGSEGV), *real_time = strsignal(SIGRTMIN + 1);
  printf("%s, %s, %s\n", signal, real_time, strsignal(number));
  printf("%s", l64a(123456789L * number));
  printf(" %ld\n", a64l("zz/0"));
  printf("%s", ecvt(3.14159 * number, 5, &point, &sign));
  printf(" %d %d", point, sign);
  printf(" %s", fcvt(-0.00123 * number, 30, &point, &sign));
  printf(" %d %d", point, sign);
  printf(" %s", qecvt(1e30L / number, 25, &point, &sign));
  printf(" %d %d", point, sign);
  printf(" %s\n", qfcvt(1e300L, 3, &point, &sign));
  printf("%s %s\n", ctermid(NULL), cuserid(NULL) ? "user" : "none");
  printf("%s %d\n", ttyname(0) ? "?" : "none", errno == ENOTTY || errno == ENODEV);
  printf("%f %d", lgamma(-0.5), signgam);
  printf(" %f %d\n", lgamma(2.5), signgam);
  return 0;
}
