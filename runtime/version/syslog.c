/* The system log, per version: identification, options, facility and mask of openlog and setlogmask.
 *
 * They are handed to libc before each message. In KLEE there is no log and messages are dropped. */
#include "p3v_libc.h"
#include <syslog.h>

/* What glibc's headers call for checked formats. */
void __vsyslog_chk(int, int, const char *, va_list);

static const char *identification;
static int options;
static int facility = LOG_USER;
static int mask = 0xff;

void SHIM(openlog)(const char *name, int new_options, int new_facility) {
  if (name)
    identification = name;
  options = new_options;
  if ((new_facility & ~LOG_FACMASK) == 0)
    facility = new_facility;
}

void SHIM(closelog)(void) { identification = NULL; }

int SHIM(setlogmask)(int new_mask) {
  int before = mask;
  if (new_mask)
    mask = new_mask;
  return before;
}

static void prepare(void) {
  p3v_own();
  const char *name = identification ? identification : SHIM(program_invocation_short_name);
  openlog(name, options & ~LOG_NDELAY, facility);
  setlogmask(mask);
}

void SHIM(vsyslog)(int priority, const char *format, va_list args) {
  if (p3_in_klee())
    return;
  prepare();
  vsyslog(priority, format, args);
}

void SHIM(syslog)(int priority, const char *format, ...) {
  va_list args;
  va_start(args, format);
  SHIM(vsyslog)(priority, format, args);
  va_end(args);
}

void SHIM(__vsyslog_chk)(int priority, int flag, const char *format, va_list args) {
  if (p3_in_klee())
    return;
  prepare();
  __vsyslog_chk(priority, flag, format, args);
}

void SHIM(__syslog_chk)(int priority, int flag, const char *format, ...) {
  va_list args;
  va_start(args, format);
  SHIM(__vsyslog_chk)(priority, flag, format, args);
  va_end(args);
}
