/* The file of logins, per version: its name, the place in it and the entries that are returned.
 *
 * libc's functions keep one open file for the process, so these read the file themselves. Entries are
 * struct utmp, with which struct utmpx is identical. Not done: updwtmp, logwtmp, login and logout are
 * libc's, since they leave no state behind. */
#include "p3v_libc.h"
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>

_Static_assert(sizeof(struct utmp) == sizeof(struct utmpx), "one entry serves both families");

static char default_name[] = _PATH_UTMP;
static char *file_name = default_name;
static int file = -1;
static bool writable;
static off_t place;      /* of the next entry */
static struct utmp last; /* the one read last */

static bool open_file(bool for_writing) {
  if (file >= 0 && (writable || !for_writing))
    return true;
  const char *name = file_name;
  p3v_own();
  if (strcmp(name, _PATH_UTMP) == 0 && access(_PATH_UTMP "x", F_OK) == 0)
    name = _PATH_UTMP "x";
  int opened = p3_fd_hide(open(name, (for_writing ? O_RDWR : O_RDONLY) | O_CLOEXEC));
  if (opened < 0)
    return false;
  if (file >= 0)
    close(file);
  else
    place = 0;
  file = opened;
  writable = for_writing;
  return true;
}

/* Reads the next entry into `last`. */
static bool next(void) {
  struct utmp entry;
  if (pread(file, &entry, sizeof entry, place) != (ssize_t)sizeof entry)
    return false;
  last = entry;
  place += (off_t)sizeof last;
  return true;
}

static bool is_process(const struct utmp *entry) {
  return entry->ut_type == INIT_PROCESS || entry->ut_type == LOGIN_PROCESS ||
         entry->ut_type == USER_PROCESS || entry->ut_type == DEAD_PROCESS;
}

static bool is_event(const struct utmp *entry) {
  return entry->ut_type == RUN_LVL || entry->ut_type == BOOT_TIME || entry->ut_type == OLD_TIME ||
         entry->ut_type == NEW_TIME;
}

static bool same_id(const struct utmp *a, const struct utmp *b) {
  if (is_event(a))
    return a->ut_type == b->ut_type;
  if (!is_process(a) || !is_process(b))
    return false;
  if (a->ut_id[0] && b->ut_id[0])
    return strncmp(a->ut_id, b->ut_id, sizeof a->ut_id) == 0;
  return strncmp(a->ut_line, b->ut_line, sizeof a->ut_line) == 0;
}

static bool same_line(const struct utmp *wanted, const struct utmp *entry) {
  return (entry->ut_type == USER_PROCESS || entry->ut_type == LOGIN_PROCESS) &&
         strncmp(wanted->ut_line, entry->ut_line, sizeof wanted->ut_line) == 0;
}

static int find(const struct utmp *wanted, bool (*matches)(const struct utmp *, const struct utmp *),
                struct utmp *entry, struct utmp **result) {
  *result = NULL;
  if (!open_file(false))
    return -1;
  do {
    if (!next()) {
      errno = ESRCH;
      return -1;
    }
  } while (!matches(wanted, &last));
  *entry = last;
  *result = entry;
  return 0;
}

void SHIM(setutent)(void) {
  open_file(false);
  place = 0;
}

void SHIM(endutent)(void) {
  if (file >= 0)
    close(file);
  file = -1;
  writable = false;
}

int SHIM(utmpname)(const char *name) {
  SHIM(endutent)();
  char *copy = strdup(name);
  if (!copy)
    return -1;
  if (file_name != default_name)
    free(file_name);
  file_name = copy;
  return 0;
}

int SHIM(getutent_r)(struct utmp *entry, struct utmp **result) {
  *result = NULL;
  if (!open_file(false) || !next())
    return -1;
  *entry = last;
  *result = entry;
  return 0;
}

int SHIM(getutid_r)(const struct utmp *wanted, struct utmp *entry, struct utmp **result) {
  if (!is_event(wanted) && !is_process(wanted)) {
    errno = EINVAL;
    *result = NULL;
    return -1;
  }
  return find(wanted, same_id, entry, result);
}

int SHIM(getutline_r)(const struct utmp *wanted, struct utmp *entry, struct utmp **result) {
  return find(wanted, same_line, entry, result);
}

struct utmp *SHIM(getutent)(void) {
  static struct utmp entry;
  struct utmp *result;
  SHIM(getutent_r)(&entry, &result);
  return result;
}

struct utmp *SHIM(getutid)(const struct utmp *wanted) {
  static struct utmp entry;
  struct utmp *result;
  SHIM(getutid_r)(wanted, &entry, &result);
  return result;
}

struct utmp *SHIM(getutline)(const struct utmp *wanted) {
  static struct utmp entry;
  struct utmp *result;
  SHIM(getutline_r)(wanted, &entry, &result);
  return result;
}

struct utmp *SHIM(pututline)(const struct utmp *entry) {
  struct utmp copy = *entry;
  if (!open_file(true))
    return NULL;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  fcntl(file, F_SETLKW, &lock);
  bool found = place > 0 && same_id(&copy, &last);
  if (found) {
    place -= (off_t)sizeof last;
    found = next() && same_id(&copy, &last);
  }
  while (!found && next())
    found = same_id(&copy, &last);
  off_t end = lseek(file, 0, SEEK_END);
  off_t at = found ? place - (off_t)sizeof copy : end - end % (off_t)sizeof copy;
  bool written = pwrite(file, &copy, sizeof copy, at) == (ssize_t)sizeof copy;
  if (!written && !found && ftruncate(file, end) != 0)
    written = false;
  lock.l_type = F_UNLCK;
  fcntl(file, F_SETLK, &lock);
  if (!written)
    return NULL;
  place = at + (off_t)sizeof copy;
  return (struct utmp *)entry;
}

void SHIM(setutxent)(void) { SHIM(setutent)(); }
void SHIM(endutxent)(void) { SHIM(endutent)(); }
int SHIM(utmpxname)(const char *name) { return SHIM(utmpname)(name); }
struct utmpx *SHIM(getutxent)(void) { return (struct utmpx *)SHIM(getutent)(); }

struct utmpx *SHIM(getutxid)(const struct utmpx *wanted) {
  return (struct utmpx *)SHIM(getutid)((const struct utmp *)wanted);
}

struct utmpx *SHIM(getutxline)(const struct utmpx *wanted) {
  return (struct utmpx *)SHIM(getutline)((const struct utmp *)wanted);
}

struct utmpx *SHIM(pututxline)(const struct utmpx *entry) {
  return (struct utmpx *)SHIM(pututline)((const struct utmp *)entry);
}
