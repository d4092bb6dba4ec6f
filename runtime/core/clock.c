/* When each version began.
 *
 * Versions that run one after the other see the same answers to their k-th questions for the time
 * (answers.c), so a version that asks more often than the ones before it must get an answer that continues
 * theirs: the time that passed while it was waiting for its turn is left out, or timeouts would expire that
 * would not expire alone.
 *
 * But a version may come more quickly than the first one to the point where the known answers end, and the
 * time must not go back there: then less is left out. In a second run (rerun.c) that is true of all of them.
 */
#include "process.h"
#include <sys/time.h>
#include <time.h>

static int64_t first_start = -1;
static struct {
  int64_t lag, cpu;
  bool goes_on, cpu_goes_on; /* beyond the answers that are known */
  struct rusage self, children;
} starts[P3_MAX_VERSIONS];

/* The latest answers, as readings of the monotonic clock and of the process's CPU clock; 0: none. */
static int64_t latest, latest_cpu;

/* What a first run used. */
static struct rusage used_self, used_children;

static int64_t read_clock(clockid_t id) {
  struct timespec now = {0, 0};
  clock_gettime(id, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static struct rusage usage_since(int who, const struct rusage *before) {
  struct rusage usage;
  getrusage(who, &usage);
  timersub(&usage.ru_utime, &before->ru_utime, &usage.ru_utime);
  timersub(&usage.ru_stime, &before->ru_stime, &usage.ru_stime);
  return usage;
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
  starts[version].self = usage_since(RUSAGE_SELF, &used_self);
  starts[version].children = usage_since(RUSAGE_CHILDREN, &used_children);
}

int64_t p3_lag(int version) { return starts[version].lag; }

static int64_t behind(int64_t *by, bool *goes_on, clockid_t clock, int64_t last) {
  if (!*goes_on) {
    *goes_on = true;
    int64_t most = read_clock(clock) - last;
    if (last && most < *by)
      *by = most;
  }
  return *by;
}

int64_t p3_lag_now(int version) {
  if (p3_in_klee())
    return 0;
  return behind(&starts[version].lag, &starts[version].goes_on, CLOCK_MONOTONIC, latest);
}

int64_t p3_cpu_before_now(int version) {
  if (p3_in_klee() || p3_only >= 0)
    return 0;
  return behind(&starts[version].cpu, &starts[version].cpu_goes_on, CLOCK_PROCESS_CPUTIME_ID, latest_cpu);
}

void p3_clock_answered(int version, enum p3_question question) {
  if (p3_in_klee())
    return;
  p3_signed(version);
  bool cpu = question == P3_ASK_CPU_CLOCK || question == P3_ASK_CLOCK + CLOCK_PROCESS_CPUTIME_ID;
  bool wall = question == P3_ASK_TIME || question == P3_ASK_TIMEOFDAY || question == P3_ASK_FTIME ||
              question == P3_ASK_TIMESPEC || question >= P3_ASK_CLOCK;
  int64_t reading = cpu    ? read_clock(CLOCK_PROCESS_CPUTIME_ID) - starts[version].cpu
                    : wall ? read_clock(CLOCK_MONOTONIC) - starts[version].lag
                           : 0;
  int64_t *last = cpu ? &latest_cpu : &latest;
  if (reading > *last)
    *last = reading;
}

void p3_clock_hand_over(struct p3_times *times) {
  *times = (struct p3_times){first_start, latest, latest_cpu};
}

void p3_clock_resume(const struct p3_times *times) {
  first_start = times->started;
  latest = times->latest;
  latest_cpu = times->latest_cpu;
  getrusage(RUSAGE_SELF, &used_self);
  getrusage(RUSAGE_CHILDREN, &used_children);
}

struct rusage p3_used_before(int version, int who) {
  /* A forked child begins with zero. */
  if (p3_only >= 0 || (who != RUSAGE_SELF && who != RUSAGE_CHILDREN))
    return (struct rusage){0};
  return who == RUSAGE_SELF ? starts[version].self : starts[version].children;
}

int64_t p3_cpu_before(int version) { return p3_only >= 0 ? 0 : starts[version].cpu; }
