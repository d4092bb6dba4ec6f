/* Broken-down time, per version: the result buffers, and the time zone with its variables.
 *
 * libc has one time zone, read from TZ by some functions at every call (localtime, mktime, ctime,
 * tzset) and by others only if it has not been read before (localtime_r). Each version remembers the
 * value that it has read; before libc converts, its zone is made to be that one. */
#include "p3v_libc.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

char *SHIM(tzname)[2] = {"GMT", "GMT"};
long SHIM(timezone);
int SHIM(daylight);
extern char *SHIM(__tzname)[2] __attribute__((alias("p3_shim_tzname")));
extern long SHIM(__timezone) __attribute__((alias("p3_shim_timezone")));
extern int SHIM(__daylight) __attribute__((alias("p3_shim_daylight")));

int SHIM(getdate_err);

static struct p3_timezone zone;

/* The one buffer that gmtime and localtime share in libc as well. */
static struct tm broken_down;

static bool same_value(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static void remember(struct p3_timezone *zone, const char *value) {
  if (zone->known && same_value(zone->value, value))
    return;
  free(zone->value);
  zone->value = value ? strdup(value) : NULL;
  zone->known = true;
}

/* Lets libc read `value` as TZ, whatever TZ is now. */
static void install(const char *value) {
  char *only[] = {NULL, NULL};
  if (value && asprintf(&only[0], "TZ=%s", value) < 0)
    return;
  environ = only;
  tzset();
  environ = SHIM(environ);
  free(only[0]);
}

/* libc has changed its variables as this version's time zone and the converted time ask for. */
static void take_variables(void) {
  SHIM(tzname)[0] = tzname[0];
  SHIM(tzname)[1] = tzname[1];
  SHIM(timezone) = timezone;
  SHIM(daylight) = daylight;
}

/* Makes libc's time zone this version's. `read_again`: the version's is what TZ says now. */
static void use_zone(bool read_again) {
  p3v_attend_environ();
  if (p3_in_klee()) /* klee-uclibc reads TZ at every call */
    return;
  if (read_again || !zone.known) {
    const char *value = SHIM(getenv)("TZ");
    tzset();
    remember(&zone, value);
    remember(&p3_timezone, value);
    take_variables();
  } else if (!p3_timezone.known || !same_value(zone.value, p3_timezone.value)) {
    install(zone.value);
    remember(&p3_timezone, zone.value);
  }
}

void SHIM(tzset)(void) {
  use_zone(true);
  if (p3_in_klee()) {
    tzset();
    take_variables();
  }
}

struct tm *SHIM(localtime_r)(const time_t *when, struct tm *result) {
  use_zone(false);
  result = localtime_r(when, result);
  take_variables();
  return result;
}

struct tm *SHIM(localtime)(const time_t *when) {
  use_zone(true);
  return SHIM(localtime_r)(when, &broken_down);
}

struct tm *SHIM(gmtime)(const time_t *when) { return gmtime_r(when, &broken_down); }

char *SHIM(asctime)(const struct tm *tm) {
  static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  static char text[114];
  if (!tm) {
    errno = EINVAL;
    return NULL;
  }
  if (tm->tm_year > INT_MAX - 1900) {
    errno = EOVERFLOW;
    return NULL;
  }
  snprintf(text, sizeof text, "%s %s%3d %.2d:%.2d:%.2d %d\n",
           tm->tm_wday >= 0 && tm->tm_wday < 7 ? days[tm->tm_wday] : "???",
           tm->tm_mon >= 0 && tm->tm_mon < 12 ? months[tm->tm_mon] : "???", tm->tm_mday, tm->tm_hour,
           tm->tm_min, tm->tm_sec, 1900 + tm->tm_year);
  return text;
}

char *SHIM(ctime)(const time_t *when) { return SHIM(asctime)(SHIM(localtime)(when)); }

char *SHIM(ctime_r)(const time_t *when, char *text) {
  struct tm tm;
  return asctime_r(SHIM(localtime_r)(when, &tm), text);
}

time_t SHIM(mktime)(struct tm *tm) {
  use_zone(true);
  time_t when = mktime(tm);
  take_variables();
  return when;
}

time_t SHIM(timelocal)(struct tm *tm) { return SHIM(mktime)(tm); }

/* Prepares formatting, which reads TZ again for %s and for %Z of a time without a zone name. */
static void prepare_format(bool seconds, bool name, const struct tm *tm) {
  if (seconds || (name && tm->tm_isdst >= 0 && (!tm->tm_zone || !*tm->tm_zone)))
    use_zone(true);
  else
    p3v_attend_environ();
}

size_t SHIM(strftime)(char *text, size_t size, const char *format, const struct tm *tm) {
  prepare_format(strchr(format, 's'), strchr(format, 'Z'), tm);
  return strftime(text, size, format, tm);
}

size_t SHIM(strftime_l)(char *text, size_t size, const char *format, const struct tm *tm, locale_t locale) {
  prepare_format(strchr(format, 's'), strchr(format, 'Z'), tm);
  return strftime_l(text, size, format, tm, locale);
}

size_t SHIM(wcsftime)(wchar_t *text, size_t size, const wchar_t *format, const struct tm *tm) {
  prepare_format(wcschr(format, L's'), wcschr(format, L'Z'), tm);
  return wcsftime(text, size, format, tm);
}

size_t SHIM(wcsftime_l)(wchar_t *text, size_t size, const wchar_t *format, const struct tm *tm,
                        locale_t locale) {
  prepare_format(wcschr(format, L's'), wcschr(format, L'Z'), tm);
  return wcsftime_l(text, size, format, tm, locale);
}

char *SHIM(strptime)(const char *text, const char *format, struct tm *tm) {
  if (strchr(format, 's'))
    use_zone(false);
  else
    p3v_attend_environ();
  return strptime(text, format, tm);
}

char *SHIM(strptime_l)(const char *text, const char *format, struct tm *tm, locale_t locale) {
  if (strchr(format, 's'))
    use_zone(false);
  return strptime_l(text, format, tm, locale);
}

int SHIM(getdate_r)(const char *text, struct tm *result) {
  use_zone(true);
  int error = getdate_r(text, result);
  take_variables();
  return error;
}

struct tm *SHIM(getdate)(const char *text) {
  static struct tm result;
  int error = SHIM(getdate_r)(text, &result);
  if (error == 0)
    return &result;
  SHIM(getdate_err) = error;
  return NULL;
}
