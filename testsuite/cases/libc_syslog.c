// The system log: openlog's identification, options and mask per version, shown by LOG_PERROR.
//@ run: same
//@ run: the second version is less talkative
//@ args: x
//@ expect: output
#include <stdio.h>
#include <syslog.h>

int main(int argc, char **argv) {
  printf("%x\n", (unsigned)setlogmask(0));
  openlog("own name", LOG_PERROR, LOG_LOCAL3);
  syslog(LOG_INFO, "first %d", 1);
  if (argc > 1 && V == 2)
    setlogmask(LOG_UPTO(LOG_ERR));
  syslog(LOG_WARNING, "second %s", "text");
  syslog(LOG_ERR, "third");
  closelog();
  syslog(LOG_ERR, "under the program's name");
  printf("%x\n", (unsigned)setlogmask(0));
  return 0;
}
