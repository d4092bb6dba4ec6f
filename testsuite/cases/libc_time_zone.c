// localtime and its kin: result buffers, TZ read again or not, tzname, timezone and daylight.
//@ run: UTC
//@ env: TZ=UTC
//@ run: no TZ
//@ run: rules
//@ env: TZ=EST5EDT,M3.2.0,M11.1.0
//@ run: the second version moves
//@ env: TZ=CET-1CEST,M3.5.0,M10.5.0/3 MOVE=1
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void variables(const char *title) { printf("%s: %s %s %ld %d\n", title, tzname[0], tzname[1], timezone, daylight); }

static void show(time_t when) {
  char text[100], buffer[26];
  struct tm copy = *localtime(&when), other;
  variables("localtime");
  strftime(text, sizeof text, "%F %T %Z %z %s %a %B", &copy);
  printf("%s, %s", text, ctime(&when));
  printf("%s%s", asctime(gmtime(&when)), asctime_r(localtime_r(&when, &other), buffer));
  printf("%s", ctime_r(&when, buffer));
  copy.tm_mon += 6;
  copy.tm_isdst = -1;
  printf("%ld", (long)mktime(&copy));
  printf(" %ld\n", (long)timegm(&copy));
  variables("mktime");
}

int main(int argc, char **argv) {
  time_t winter = 1700000000, summer = 1720000000;
  struct tm tm;
  char text[50];
  variables("start");
  show(winter);
  show(summer);
  struct tm *shared = gmtime(&winter);
  printf("%d\n", shared == localtime(&summer));
  printf("%s", asctime(shared));
  setenv("TZ", V == 2 && getenv("MOVE") ? "MOV+3" : "XXX-2YYY", 1);
  strftime(text, sizeof text, "%H %Z", localtime_r(&winter, &tm));
  printf("not read again: %s\n", text);
  strptime("1700000000", "%s", &tm);
  printf("%d\n", tm.tm_hour);
  tzset();
  variables("tzset");
  strftime(text, sizeof text, "%H %Z", localtime_r(&winter, &tm));
  printf("read again: %s\n", text);
  memset(&tm, 0, sizeof tm);
  tm.tm_year = 100;
  tm.tm_mday = 1;
  setenv("TZ", "ZZZ4", 1);
  strftime(text, sizeof text, "%c %Z", &tm);
  printf("%s\n", text);
  variables("strftime");
  show(0);
  tm.tm_year = 2147483647;
  printf("%s\n", asctime(&tm) ? "?" : "none");
  tm.tm_year = 12345678;
  printf("%s", asctime(&tm));
  return 0;
}
