/* Resource limits and priority of the process that the version is (core/limits.c). */
#include "p3v_process.h"
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <ulimit.h>
#include <unistd.h>

int SHIM(getrlimit)(__rlimit_resource_t resource, struct rlimit *limit) {
  return p3_limit_get(p3v_index, (int)resource, limit);
}

int SHIM(setrlimit)(__rlimit_resource_t resource, const struct rlimit *limit) {
  return p3_limit_set(p3v_index, (int)resource, limit);
}

int SHIM(getrlimit64)(__rlimit_resource_t resource, struct rlimit *limit) {
  return SHIM(getrlimit)(resource, limit);
}

int SHIM(setrlimit64)(__rlimit_resource_t resource, const struct rlimit *limit) {
  return SHIM(setrlimit)(resource, limit);
}

int SHIM(prlimit)(pid_t process, enum __rlimit_resource resource, const struct rlimit *new,
                  struct rlimit *old) {
  if (process != 0 && process != SHIM(getpid)())
    return prlimit(p3v_real(process), resource, new, old);
  struct rlimit before;
  if (SHIM(getrlimit)(resource, &before) != 0 || (new &&SHIM(setrlimit)(resource, new) != 0))
    return -1;
  if (old)
    *old = before;
  return 0;
}

int SHIM(prlimit64)(pid_t process, enum __rlimit_resource resource, const struct rlimit *new,
                    struct rlimit *old) {
  return SHIM(prlimit)(process, resource, new, old);
}

/* What the limits decide. */
long SHIM(sysconf)(int name) {
  struct rlimit limit;
  int resource = name == _SC_OPEN_MAX ? RLIMIT_NOFILE : name == _SC_CHILD_MAX ? RLIMIT_NPROC : -1;
  if (p3_in_klee() || resource < 0)
    return sysconf(name);
  return p3_limit_get(p3v_index, resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY
             ? -1
             : (long)limit.rlim_cur;
}

int SHIM(getdtablesize)(void) { return p3_in_klee() ? getdtablesize() : (int)SHIM(sysconf)(_SC_OPEN_MAX); }

long SHIM(ulimit)(int command, ...) {
  struct rlimit limit;
  switch (command) {
  case UL_GETFSIZE:
    return SHIM(getrlimit)(RLIMIT_FSIZE, &limit) != 0 ? -1
           : limit.rlim_cur == RLIM_INFINITY          ? LONG_MAX
                                                      : (long)(limit.rlim_cur / 512);
  case UL_SETFSIZE: {
    va_list arguments;
    va_start(arguments, command);
    long blocks = va_arg(arguments, long);
    va_end(arguments);
    rlim_t size = (rlim_t)blocks > RLIM_INFINITY / 512 ? RLIM_INFINITY : (rlim_t)blocks * 512;
    limit = (struct rlimit){size, size};
    return SHIM(setrlimit)(RLIMIT_FSIZE, &limit) != 0 ? -1 : blocks;
  }
  case __UL_GETOPENMAX:
    return SHIM(sysconf)(_SC_OPEN_MAX);
  default:
    errno = EINVAL;
    return -1;
  }
}

static bool is_me(__priority_which_t which, id_t who) {
  return which == PRIO_PROCESS && (who == 0 || (pid_t)who == SHIM(getpid)());
}

int SHIM(getpriority)(__priority_which_t which, id_t who) {
  if (is_me(which, who))
    return p3_priority_get(p3v_index);
  return getpriority(which, which == PRIO_USER ? who : (id_t)p3v_real((pid_t)who));
}

int SHIM(setpriority)(__priority_which_t which, id_t who, int priority) {
  if (is_me(which, who))
    return p3_priority_set(p3v_index, priority);
  return setpriority(which, which == PRIO_USER ? who : (id_t)p3v_real((pid_t)who), priority);
}

int SHIM(nice)(int by) {
  int saved = errno;
  long priority = (long)p3_priority_get(p3v_index) + by;
  if (p3_priority_set(p3v_index, priority < -20 ? -20 : priority > 19 ? 19 : (int)priority) != 0) {
    if (errno == EACCES)
      errno = EPERM;
    return -1;
  }
  errno = saved;
  return p3_priority_get(p3v_index);
}
