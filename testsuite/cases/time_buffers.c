// localtime, gmtime, asctime and ctime: static results, TZ and tzset.
//@ env: TZ=UTC-2
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(void) {
  time_t when = 1000000000, later = when + 86400 * (V == 2 ? 2 : 1);
  struct tm *local = localtime(&when);
  printf("%d %d %s\n", local->tm_hour, local->tm_isdst, local->tm_zone);
  struct tm *other = gmtime(&later);
  printf("%d %d %d\n", local == other, local->tm_mday, other->tm_mday);
  char *text = ctime(&when);
  printf("%s%s", text, asctime(other));
  setenv("TZ", V == 2 ? "EST5EDT" : "JST-9", 1);
  tzset();
  printf("%s %ld %d\n", tzname[0], timezone, daylight);
  printf("%s", ctime(&when));
  char buffer[64];
  strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M:%S %Z %z", localtime(&when));
  puts(buffer);
  struct tm broken = {.tm_year = 100, .tm_mon = 13, .tm_mday = 40, .tm_isdst = -1};
  printf("%ld\n", (long)mktime(&broken));
  struct tm parsed = {0};
  strptime("2001-02-03 04:05:06", "%Y-%m-%d %H:%M:%S", &parsed);
  printf("%s", asctime(&parsed));
  return 0;
}
