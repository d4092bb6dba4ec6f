/* Processes that outlive the version that started them and still have its standard output or error.
 *
 * Where the real stream is a pipe or a socket, whoever reads it alone sees the end only when they are gone,
 * too, so what they print belongs to the version's output. They are waited for, within reason, before outputs
 * are compared. They are found in /proc: they need not be children of this process any more. */
#include "process.h"
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 10000 /* milliseconds */

static bool has_forked[P3_MAX_VERSIONS];

/* Before the fork. */
void p3_linger_forked(int version) {
  has_forked[version] = true;
  p3_captures_complete();
}

static bool is_read_to_its_end(int stream) {
  const struct p3_original *original = &p3_originals[stream];
  return original->fd >= 0 && (S_ISFIFO(original->stat.st_mode) || S_ISSOCK(original->stat.st_mode));
}

static bool holds(const char *process, int version, const struct stat *capture) {
  for (int fd = 1; fd <= 2; fd++) {
    char path[64];
    struct stat stat_of;
    snprintf(path, sizeof path, "/proc/%.20s/fd/%d", process, fd);
    if (stat(path, &stat_of) == 0 &&
        ((stat_of.st_ino == capture->st_ino && stat_of.st_dev == capture->st_dev) ||
         p3_relay_has(version, &stat_of)))
      return true;
  }
  return false;
}

static bool is_held(int version, const struct stat *capture) {
  DIR *directory = opendir("/proc");
  bool found = false;
  pid_t me = getpid();
  for (struct dirent *entry; directory && !found && (entry = readdir(directory));)
    found = isdigit((unsigned char)entry->d_name[0]) && atoi(entry->d_name) != me &&
            holds(entry->d_name, version, capture);
  if (directory)
    closedir(directory);
  return found;
}

static bool anybody(void) {
  for (int i = 0; i < p3_count; i++)
    for (int stream = 1; has_forked[i] && stream <= 2; stream++) {
      struct stat capture;
      if (is_read_to_its_end(stream) && fstat(p3_captures[i][stream].read, &capture) == 0 &&
          is_held(i, &capture))
        return true;
    }
  return false;
}

void p3_linger(void) {
  long pause = 1;
  for (long waited = 0; waited < PATIENCE && anybody(); waited += pause) {
    pause = waited < 20 ? 1 : 10;
    nanosleep(&(struct timespec){0, pause * 1000000}, NULL);
    for (int i = 0; i < p3_count; i++)
      p3_show(i);
  }
  for (int i = 0; i < p3_count; i++) {
    p3_relay_settle(i);
    p3_show(i);
  }
}
