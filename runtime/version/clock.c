/* Time and resource use: the k-th question of a thread for one clock gets the same answer in every version.
 *
 * A question that no other version has asked yet goes to libc. Calls that fail are not remembered: what makes
 * them fail is in the version's arguments. */
#include "p3v_process.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <unistd.h>

#define NANO 1000000000ll

static _Thread_local struct p3_cursor cursors[P3_QUESTIONS];

static struct p3_asker asker(void) { return (struct p3_asker){(uint32_t)p3v_process(), p3v_thread}; }

bool p3v_recall(enum p3_question question, void *answer, size_t size) {
  return p3_recall(&cursors[question], asker(), question, answer, size);
}

void p3v_record(enum p3_question question, void *answer, size_t size) {
  p3_record(&cursors[question], asker(), question, answer, size);
  p3_clock_answered(p3v_index, question);
}

void p3v_questions_restart(void) { memset(cursors, 0, sizeof cursors); }

static struct timespec shifted(struct timespec time, int64_t by) {
  if (by == 0)
    return time;
  int64_t nano = time.tv_nsec + by % NANO;
  time.tv_sec += by / NANO;
  if (nano < 0 || nano >= NANO) {
    int64_t carry = nano < 0 ? -1 : 1;
    time.tv_sec += carry;
    nano -= carry * NANO;
  }
  time.tv_nsec = nano;
  return time;
}

const struct timespec *p3v_deadline(const struct timespec *deadline, struct timespec *space) {
  int64_t lag = p3_lag(p3v_index);
  if (lag == 0 || !deadline || deadline->tv_nsec < 0 || deadline->tv_nsec >= NANO)
    return deadline;
  *space = shifted(*deadline, lag);
  return space;
}

/* How far the version's reading of a clock is behind the real one. */
static int64_t behind(clockid_t id) {
  switch (id) {
  case CLOCK_PROCESS_CPUTIME_ID:
    return p3_cpu_before_now(p3v_index);
  case CLOCK_THREAD_CPUTIME_ID:
    return p3v_thread == 0 ? p3_cpu_before(p3v_index) : 0;
  default:
    return id >= 0 ? p3_lag_now(p3v_index) : 0;
  }
}

/* The version's present on a clock of clock_gettime, not remembered. */
static bool now(clockid_t id, struct timespec *time) {
  int64_t by = behind(id);
  if (clock_gettime(id, time) != 0)
    return false;
  *time = shifted(*time, -by);
  return true;
}

int SHIM(clock_gettime)(clockid_t id, struct timespec *time) {
  enum p3_question question = P3_ASK_CLOCK + ((unsigned)id & 31);
  struct timespec answer;
  if (!p3v_recall(question, &answer, sizeof answer)) {
    if (!now(id, &answer))
      return -1;
    p3v_record(question, &answer, sizeof answer);
  }
  *time = answer;
  return 0;
}

int SHIM(__clock_gettime)(clockid_t id, struct timespec *time) { return SHIM(clock_gettime)(id, time); }
int SHIM(__clock_gettime64)(clockid_t id, struct timespec *time) { return SHIM(clock_gettime)(id, time); }
int SHIM(clock_gettime64)(clockid_t id, struct timespec *time) { return SHIM(clock_gettime)(id, time); }

time_t SHIM(time)(time_t *result) {
  time_t answer;
  if (!p3v_recall(P3_ASK_TIME, &answer, sizeof answer)) {
    int64_t lag = p3_lag_now(p3v_index);
    answer = time(NULL) - lag / NANO;
    p3v_record(P3_ASK_TIME, &answer, sizeof answer);
  }
  if (result)
    *result = answer;
  return answer;
}

time_t SHIM(__time64)(time_t *result) { return SHIM(time)(result); }
time_t SHIM(time64)(time_t *result) { return SHIM(time)(result); }

int SHIM(gettimeofday)(struct timeval *restrict time, void *restrict zone) {
  struct timeval answer;
  if (!p3v_recall(P3_ASK_TIMEOFDAY, &answer, sizeof answer)) {
    int64_t lag = p3_lag_now(p3v_index);
    if (gettimeofday(&answer, NULL) != 0)
      return -1;
    struct timespec exact = shifted((struct timespec){answer.tv_sec, answer.tv_usec * 1000}, -lag);
    answer = (struct timeval){exact.tv_sec, exact.tv_nsec / 1000};
    p3v_record(P3_ASK_TIMEOFDAY, &answer, sizeof answer);
  }
  if (time)
    *time = answer;
  return zone ? gettimeofday(&answer, zone) : 0;
}

int SHIM(__gettimeofday)(struct timeval *restrict time, void *restrict zone) {
  return SHIM(gettimeofday)(time, zone);
}

int SHIM(__gettimeofday64)(struct timeval *restrict time, void *restrict zone) {
  return SHIM(gettimeofday)(time, zone);
}

int SHIM(timespec_get)(struct timespec *time, int base) {
  if (base != TIME_UTC)
    return 0;
  struct timespec answer;
  if (!p3v_recall(P3_ASK_TIMESPEC, &answer, sizeof answer)) {
    if (!now(CLOCK_REALTIME, &answer))
      return 0;
    p3v_record(P3_ASK_TIMESPEC, &answer, sizeof answer);
  }
  *time = answer;
  return base;
}

/* Written here since glibc has it for old programs only. */
int SHIM(ftime)(struct timeb *time) {
  struct timespec answer;
  if (!p3v_recall(P3_ASK_FTIME, &answer, sizeof answer)) {
    if (!now(CLOCK_REALTIME, &answer))
      return -1;
    p3v_record(P3_ASK_FTIME, &answer, sizeof answer);
  }
  time->time = answer.tv_sec;
  time->millitm = (unsigned short)(answer.tv_nsec / 1000000);
  time->timezone = 0;
  time->dstflag = 0;
  return 0;
}

clock_t SHIM(clock)(void) {
  clock_t answer;
  if (!p3v_recall(P3_ASK_CPU_CLOCK, &answer, sizeof answer)) {
    int64_t before = p3_cpu_before_now(p3v_index);
    answer = clock();
    if (answer == (clock_t)-1)
      return answer;
    answer -= before / (NANO / CLOCKS_PER_SEC);
    p3v_record(P3_ASK_CPU_CLOCK, &answer, sizeof answer);
  }
  return answer;
}

static struct timeval difference(struct timeval a, struct timeval b) {
  struct timeval result;
  timersub(&a, &b, &result);
  return result;
}

int SHIM(getrusage)(__rusage_who_t who, struct rusage *usage) {
  enum p3_question question = who == RUSAGE_SELF       ? P3_ASK_RUSAGE_SELF
                              : who == RUSAGE_CHILDREN ? P3_ASK_RUSAGE_CHILDREN
                                                       : P3_ASK_RUSAGE_THREAD;
  struct rusage answer;
  if (!p3v_recall(question, &answer, sizeof answer)) {
    if (getrusage(who, &answer) != 0)
      return -1;
    struct rusage before = p3_used_before(p3v_index, who);
    answer.ru_utime = difference(answer.ru_utime, before.ru_utime);
    answer.ru_stime = difference(answer.ru_stime, before.ru_stime);
    p3v_record(question, &answer, sizeof answer);
  }
  *usage = answer;
  return 0;
}

static clock_t ticks(struct timeval time, long per_second) {
  return time.tv_sec * per_second + time.tv_usec * per_second / 1000000;
}

clock_t SHIM(times)(struct tms *buffer) {
  struct {
    clock_t elapsed;
    struct tms used;
  } answer;
  if (!p3v_recall(P3_ASK_TIMES, &answer, sizeof answer)) {
    int64_t lag = p3_lag_now(p3v_index);
    answer.elapsed = times(&answer.used);
    if (answer.elapsed == (clock_t)-1)
      return answer.elapsed;
    if (lag != 0) {
      long hertz = sysconf(_SC_CLK_TCK);
      struct rusage self = p3_used_before(p3v_index, RUSAGE_SELF);
      struct rusage children = p3_used_before(p3v_index, RUSAGE_CHILDREN);
      answer.elapsed -= lag / (NANO / hertz);
      answer.used.tms_utime -= ticks(self.ru_utime, hertz);
      answer.used.tms_stime -= ticks(self.ru_stime, hertz);
      answer.used.tms_cutime -= ticks(children.ru_utime, hertz);
      answer.used.tms_cstime -= ticks(children.ru_stime, hertz);
    }
    p3v_record(P3_ASK_TIMES, &answer, sizeof answer);
  }
  if (buffer)
    *buffer = answer.used;
  return answer.elapsed;
}

int SHIM(sysinfo)(struct sysinfo *info) {
  struct sysinfo answer;
  if (!p3v_recall(P3_ASK_SYSINFO, &answer, sizeof answer)) {
    if (sysinfo(&answer) != 0)
      return -1;
    p3v_record(P3_ASK_SYSINFO, &answer, sizeof answer);
  }
  *info = answer;
  return 0;
}

int SHIM(getloadavg)(double *loads, int count) {
  struct {
    int known;
    double loads[3];
  } answer;
  if (!p3v_recall(P3_ASK_LOAD, &answer, sizeof answer)) {
    answer.known = getloadavg(answer.loads, 3);
    if (answer.known < 0)
      return -1;
    p3v_record(P3_ASK_LOAD, &answer, sizeof answer);
  }
  if (count > answer.known)
    count = answer.known;
  for (int i = 0; i < count; i++)
    loads[i] = answer.loads[i];
  return count;
}

int SHIM(sched_getcpu)(void) {
  int answer;
  if (!p3v_recall(P3_ASK_CPU_NUMBER, &answer, sizeof answer)) {
    answer = sched_getcpu();
    if (answer < 0)
      return answer;
    p3v_record(P3_ASK_CPU_NUMBER, &answer, sizeof answer);
  }
  return answer;
}
