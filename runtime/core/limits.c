/* Resource limits and priority, per version.
 *
 * A limit that one version lowers must not bind another, and a hard limit cannot be raised again. So the
 * process keeps its hard limits, the soft ones are exchanged when the process changes hands, and what
 * getrlimit tells is kept here. The priority is only remembered: it has no effect that a program could see. A
 * forked child really gets both.
 *
 * Memory is taken by instructions (a deeper stack) and by calls that never leave a version (malloc), between which
 * the process does not change hands, and processor time by any code. So a woven product starts again when a version
 * lowers such a limit, and runs its versions one after the other; a limit of the address space is raised by what is not the version's own. */
#include "process.h"
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

static struct rlimit limits[P3_MAX_VERSIONS][RLIM_NLIMITS];
static unsigned touched[P3_MAX_VERSIONS], touched_by_any;
static bool are_set; /* by a version */
static struct rlimit originals[RLIM_NLIMITS];

/* What the process has of those that were touched. */
static struct rlimit installed[RLIM_NLIMITS];

/* How many descriptors the process may have, and the most that each version ever might. */
static rlim_t descriptors, of_version[P3_MAX_VERSIONS];

static int priorities[P3_MAX_VERSIONS];
static bool priorities_known, has_priority[P3_MAX_VERSIONS];

/* Bytes that versions which are over have left behind, when this one began: of the address space, and of that what
 * RLIMIT_DATA counts. */
static struct size {
  rlim_t space, data;
} at_first, left_behind[P3_MAX_VERSIONS];

extern char __executable_start[] __attribute__((weak)), _end[] __attribute__((weak));

static struct size size_now(void) {
  struct size size = {0, 0};
  char text[256];
  int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0)
    close(fd);
  rlim_t page = (rlim_t)sysconf(_SC_PAGESIZE), value = 0;
  int column = 0;
  for (ssize_t i = 0; i < got; i++) {
    if (text[i] >= '0' && text[i] <= '9') {
      value = 10 * value + (rlim_t)(text[i] - '0');
      continue;
    }
    if (column == 0)
      size.space = value * page;
    if (column == 5)
      size.data = value * page;
    column++;
    value = 0;
  }
  return size;
}

void p3_limits_started(int version) {
  if (p3_lockstep)
    return;
  struct size now = size_now();
  if (version == 0)
    at_first = now;
  left_behind[version] = (struct size){now.space - at_first.space, now.data - at_first.data};
}

/* The program alone would have one version's share of the product's image; the runtime counts as one more. */
static rlim_t foreign_image(void) {
  rlim_t image = __executable_start ? (rlim_t)((uintptr_t)_end - (uintptr_t)__executable_start) : 0;
  return image - image / (rlim_t)(p3_count + 1);
}

/* What the version used of its processor time and of memory is not all that the process used. */
static struct rlimit as_real(int version, int resource, struct rlimit limit) {
  struct rlimit real = {limit.rlim_cur, originals[resource].rlim_max};
  if (resource == RLIMIT_NOFILE) /* fds.c observes it; the process has the descriptors of all versions */
    real.rlim_cur = descriptors;
  if (resource == RLIMIT_CPU && real.rlim_cur != RLIM_INFINITY)
    real.rlim_cur += (rlim_t)(p3_cpu_before(version) / 1000000000);
  if (resource == RLIMIT_AS && real.rlim_cur < RLIM_INFINITY / 2)
    real.rlim_cur += left_behind[version].space + foreign_image();
  if (resource == RLIMIT_DATA && real.rlim_cur < RLIM_INFINITY / 2)
    real.rlim_cur += left_behind[version].data;
  if (real.rlim_cur > real.rlim_max)
    real.rlim_cur = real.rlim_max;
  return real;
}

static int install(int resource, const struct rlimit *limit) {
  struct rlimit *now = &installed[resource];
  if (now->rlim_cur == limit->rlim_cur && now->rlim_max == limit->rlim_max)
    return 0;
  int result = setrlimit(resource, limit);
  if (result == 0)
    *now = *limit;
  return result;
}

static void learn(int resource) {
  if (touched_by_any & 1u << resource)
    return;
  getrlimit(resource, &originals[resource]);
  installed[resource] = originals[resource];
  touched_by_any |= 1u << resource;
}

/* The process has the descriptors of all versions and the runtime's own: up to the hard limit it may. */
static rlim_t descriptors_of_all(void) {
  rlim_t left = originals[RLIMIT_NOFILE].rlim_max, own = (rlim_t)p3_fds_own();
  left -= own < left ? own : left;
  for (int i = 0; i < p3_count; i++)
    left -= of_version[i] < left ? of_version[i] : left;
  return originals[RLIMIT_NOFILE].rlim_max - left;
}

void p3_limits_start(void) {
  learn(RLIMIT_NOFILE);
  struct rlimit *limit = &originals[RLIMIT_NOFILE], raised = *limit;
  for (int i = 0; i < p3_count; i++)
    of_version[i] = limit->rlim_cur;
  raised.rlim_cur = descriptors_of_all();
  descriptors = install(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit->rlim_cur;
}

int p3_limit_get(int version, int resource, struct rlimit *limit) {
  if (p3_in_klee() || p3_only >= 0 || resource < 0 || resource >= RLIM_NLIMITS ||
      !(touched_by_any & 1u << resource))
    return getrlimit(resource, limit);
  *limit = touched[version] & 1u << resource ? limits[version][resource] : originals[resource];
  return 0;
}

int p3_limit_set(int version, int resource, const struct rlimit *limit) {
  if (p3_in_klee() || p3_only >= 0 || resource < 0 || resource >= RLIM_NLIMITS)
    return setrlimit(resource, limit);
  struct rlimit now;
  if (p3_limit_get(version, resource, &now) != 0)
    return -1;
  if (limit->rlim_cur > limit->rlim_max) {
    errno = EINVAL;
    return -1;
  }
  if (limit->rlim_max > now.rlim_max && geteuid() != 0) {
    errno = EPERM;
    return -1;
  }
  if (resource == RLIMIT_AS || resource == RLIMIT_DATA || resource == RLIMIT_STACK || resource == RLIMIT_CPU) {
    struct rlimit real;
    if (p3_lockstep && getrlimit(resource, &real) == 0 && limit->rlim_cur < real.rlim_cur)
      p3_rerun(P3_RERUN_LIMIT);
  }
  p3_enter(version);
  are_set = true;
  if (resource == RLIMIT_FSIZE) /* of the files of captures, too */
    p3_captures_complete();
  learn(resource);
  if (limit->rlim_max > originals[resource].rlim_max) {
    struct rlimit raised = {originals[resource].rlim_cur, limit->rlim_max};
    if (install(resource, &raised) != 0)
      return -1;
    originals[resource].rlim_max = limit->rlim_max;
  }
  if (resource == RLIMIT_NOFILE && limit->rlim_cur > of_version[version]) {
    of_version[version] = limit->rlim_cur;
    descriptors = descriptors_of_all();
  }
  struct rlimit real = as_real(version, resource, *limit);
  if (install(resource, &real) != 0)
    return -1;
  limits[version][resource] = *limit;
  touched[version] |= 1u << resource;
  return 0;
}

bool p3_limit_lift(int resource, struct rlimit *before) {
  if (!are_set || p3_only >= 0 || !(touched_by_any & 1u << resource))
    return false;
  *before = installed[resource];
  struct rlimit most = {before->rlim_max, before->rlim_max};
  return install(resource, &most) == 0;
}

void p3_limit_return(int resource, const struct rlimit *before) { install(resource, before); }

static void learn_priority(void) {
  if (!priorities_known)
    for (int i = 0; i < p3_count; i++)
      priorities[i] = getpriority(PRIO_PROCESS, 0);
  priorities_known = true;
}

int p3_priority_get(int version) {
  if (p3_in_klee() || p3_only >= 0)
    return getpriority(PRIO_PROCESS, 0);
  learn_priority();
  return priorities[version];
}

int p3_priority_set(int version, int priority) {
  if (p3_in_klee() || p3_only >= 0)
    return setpriority(PRIO_PROCESS, 0, priority);
  learn_priority();
  priority = priority < -20 ? -20 : priority > 19 ? 19 : priority;
  struct rlimit limit;
  if (priority < priorities[version] && geteuid() != 0 &&
      (p3_limit_get(version, RLIMIT_NICE, &limit) != 0 || (rlim_t)(20 - priority) > limit.rlim_cur)) {
    errno = EACCES;
    return -1;
  }
  priorities[version] = priority;
  has_priority[version] = true;
  return 0;
}

void p3_limits_enter(int to) {
  for (unsigned left = are_set ? touched_by_any : 0; left; left &= left - 1) {
    int resource = __builtin_ctz(left);
    struct rlimit wanted = touched[to] & 1u << resource ? limits[to][resource] : originals[resource];
    struct rlimit real = as_real(to, resource, wanted);
    install(resource, &real);
  }
}

/* Between the versions and when all are over. */
void p3_limits_restore(void) {
  for (int resource = 0; resource < RLIM_NLIMITS; resource++)
    if (touched_by_any & 1u << resource)
      install(resource, &originals[resource]);
}

void p3_limits_forked(int version) {
  for (int resource = 0; resource < RLIM_NLIMITS; resource++)
    if (touched_by_any & 1u << resource)
      setrlimit(resource,
                touched[version] & 1u << resource ? &limits[version][resource] : &originals[resource]);
  if (has_priority[version])
    setpriority(PRIO_PROCESS, 0, priorities[version]);
}
