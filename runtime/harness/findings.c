/* Inputs on which the versions differ, kept in a directory (P3_FINDINGS): one for each pair of places at which
 * they part first and of calls that write what differs, else for each kind of difference, and the smallest that is
 * met. */
#include "harness.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int directory = -1;
static char line[1024];
static size_t line_size;

void p3_findings_open(const char *path) {
  directory = p3_fd_hide(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (directory < 0)
    p3_fatal("P3_FINDINGS=%s: %s", path, strerror(errno));
}

bool p3_findings_wanted(void) { return directory >= 0; }

/* The last line counts: it is the one of the check at the end. */
static bool hear(const char *said, size_t size) {
  line_size = size < sizeof line ? size : sizeof line;
  memcpy(line, said, line_size);
  return directory >= 0;
}

void p3_findings_begin(void) {
  line_size = 0;
  p3_listener = hear;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) {
  for (const unsigned char *at = bytes; size--; at++)
    hash = (hash ^ *at) * 0x100000001b3u;
  return hash;
}

static uint64_t mix_text(uint64_t hash, const char *text) {
  return mix(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* The line of a specification without the values. */
static size_t spec_size(void) {
  static const char end[] = " does not hold";
  const char *found = memmem(line, line_size, end, sizeof end - 1);
  return found ? (size_t)(found - line) : line_size;
}

/* Where the versions parted first, and which calls wrote what differs; else what differs: which streams, or how they
 * ended. */
static uint64_t identity(void) {
  uint64_t hash = 0xcbf29ce484222325u;
  if (p3_partings) {
    hash = mix_text(hash, p3_parting_name(p3_partings));
    for (int i = 0; i < p3_count; i++)
      hash = mix_text(hash, p3_partings->places[i]);
  }
  bool differs = p3_partings;
  for (int i = 1; i < p3_count; i++)
    for (int stream = 1; stream <= 2; stream++) {
      const struct p3_difference *difference = &p3_differences[i][stream];
      if (!difference->found)
        continue;
      const char *first = p3_site_of(0, stream, difference->offset);
      const char *other = p3_site_of(i, stream, difference->offset);
      int what[2] = {i, stream};
      if (!p3_partings || first || other)
        hash = mix_text(mix_text(mix(hash, what, sizeof what), first), other);
      differs = true;
    }
  if (p3_spec_failed)
    return mix(hash, line, spec_size());
  for (int i = 0; p3_status_failed && !p3_partings && i < p3_count; i++) {
    char text[32];
    p3_status_text(i, text, sizeof text);
    hash = mix_text(hash, text);
    differs = true;
  }
  /* Another check: its line has no data of the input up to its second colon. */
  for (size_t at = 0, colons = 0; !differs && at < line_size && colons < 3; at++) {
    hash = mix(hash, line + at, 1);
    colons += line[at] == ':';
  }
  return hash;
}

static void write_file(const char *name, const void *bytes, size_t size) {
  char temporary[64];
  snprintf(temporary, sizeof temporary, ".%d.tmp", getpid());
  int file = openat(directory, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool whole = file >= 0 && write(file, bytes, size) == (ssize_t)size;
  if (file >= 0)
    close(file);
  if (!whole || renameat(directory, temporary, directory, name) != 0)
    p3_fatal("P3_FINDINGS: cannot write %s: %s", name, strerror(errno));
}

/* There is a file of this name that is not longer. */
static bool is_known(const char *name, size_t size) {
  struct stat stat;
  return fstatat(directory, name, &stat, 0) == 0 && (size_t)stat.st_size <= size;
}

void p3_findings_end(bool failed, const uint8_t *data, size_t size) {
  if (directory >= 0 && !failed && p3_partings)
    p3_parting_say(p3_partings, p3_partings->versions);
  p3_listener = NULL;
  if (directory < 0 || (!failed && !p3_partings))
    return;
  char name[40];
  unsigned long long hash = identity();
  snprintf(name, sizeof name, "%016llx.input", hash);
  if (is_known(name, failed ? size : SIZE_MAX))
    return;
  if (!failed) {
    snprintf(name, sizeof name, "%016llx.flow", hash);
    if (is_known(name, size))
      return;
  }
  write_file(name, data, size);
  snprintf(name, sizeof name, "%016llx.txt", hash);
  write_file(name, line, line_size);
}
