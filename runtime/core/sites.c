/* Which call of a version's code wrote which bytes of its standard output and error, in products whose calls of
 * libc are announced (the sites pass).
 *
 * At each announcement all bytes that came since the last one, whether libc still holds them or they are in the
 * capture, belong to the call announced before. So nothing has to be written earlier than the version would. */
#include "core.h"
#include <stdio_ext.h>
#include <stdlib.h>

extern const bool p3_has_sites; /* emitted by the sites pass */

struct segment {
  off_t end; /* in the stream */
  const char *site;
};
/* Per version and stream; what comes behind the last one is unknown. */
#define SEGMENTS 4096
static struct segment (*segments)[2][SEGMENTS];
static size_t counts[P3_MAX_VERSIONS][2];
static const char *current[P3_MAX_VERSIONS];

void p3_sites_init(void) {
  if (p3_has_sites && !p3_in_klee())
    segments = calloc((size_t)p3_count, sizeof *segments);
}

static void settle(int version) {
  for (int stream = 1; stream <= 2; stream++) {
    FILE *file = p3_states[version].files[stream];
    off_t end = p3_captures[version][stream].written + (file ? (off_t)__fpending(file) : 0);
    struct segment *list = segments[version][stream - 1];
    size_t *count = &counts[version][stream - 1];
    if (end <= (*count ? list[*count - 1].end : 0))
      continue;
    if (*count && list[*count - 1].site == current[version])
      list[*count - 1].end = end;
    else if (*count < SEGMENTS)
      list[(*count)++] = (struct segment){end, current[version]};
  }
}

void p3_site(int version, const char *site) {
  if (!segments)
    return;
  settle(version);
  current[version] = site;
}

const char *p3_site_of(int version, int stream, off_t offset) {
  if (!segments)
    return NULL;
  settle(version);
  const struct segment *list = segments[version][stream - 1];
  for (size_t i = 0; i < counts[version][stream - 1]; i++)
    if (offset < list[i].end)
      return list[i].site;
  return NULL;
}
