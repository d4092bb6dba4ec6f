/* When each version began.
 *
 * Versions that run one after the other see the same answers to their k-th questions for the time
 * (answers.c), so a version that asks more often than the ones before it must get an answer that continues
 * theirs: the time that passed while it was waiting for its turn is left out, or timeouts would expire that
 * would not expire alone. */
#include "core.h"
#include "p3_process.h"
#include <time.h>

static int64_t first_start = -1;
static struct {
  int64_t lag, cpu;
  struct rusage self, children;
} starts[P3_MAX_VERSIONS];

static int64_t read_clock(clockid_t id) {
  struct timespec now = {0, 0};
  clock_gettime(id, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

void p3_clock_started(int version) {
  if (p3_in_klee())
    return;
  int64_t now = read_clock(CLOCK_MONOTONIC);
  if (first_start < 0)
    first_start = now;
  starts[version].lag = now - first_start;
  /* The first one may well see what the product used to begin: it is what a program's own start costs. */
  if (now == first_start)
    return;
  starts[version].cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  getrusage(RUSAGE_SELF, &starts[version].self);
  getrusage(RUSAGE_CHILDREN, &starts[version].children);
}

int64_t p3_lag(int version) { return starts[version].lag; }

struct rusage p3_used_before(int version, int who) {
  /* A forked child begins with zero. */
  if (p3_only >= 0 || (who != RUSAGE_SELF && who != RUSAGE_CHILDREN))
    return (struct rusage){0};
  return who == RUSAGE_SELF ? starts[version].self : starts[version].children;
}

int64_t p3_cpu_before(int version) { return p3_only >= 0 ? 0 : starts[version].cpu; }
