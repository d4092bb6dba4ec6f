/* What cannot be undone in this process: processes, threads, signals, timers, limits, identities.
 *
 * A run that comes to such a call is given up and made again in a child (harness.c), where everything is as in a
 * product that runs once. Dispositions and masks of signals are only noted here: none can arrive in this
 * process, since whoever sends one is a child's business. */
#include "harness.h"
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A function of libc that leaves this process. */
#define LEAVES(type, name, parameters, ...)                                                                  \
  type INSTEAD(name) parameters {                                                                            \
    p3_leave_process();                                                                                      \
    return name(__VA_ARGS__);                                                                                \
  }

LEAVES(pid_t, fork, (void))
LEAVES(pid_t, setsid, (void))
LEAVES(int, setpgid, (pid_t process, pid_t group), process, group)
LEAVES(int, pthread_create,
       (pthread_t * thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument), thread,
       attributes, function, argument)

LEAVES(int, raise, (int signal), signal)
LEAVES(int, kill, (pid_t process, int signal), process, signal)
LEAVES(int, pthread_kill, (pthread_t thread, int signal), thread, signal)
LEAVES(int, pthread_sigqueue, (pthread_t thread, int signal, const union sigval value), thread, signal, value)
LEAVES(int, sigqueue, (pid_t process, int signal, const union sigval value), process, signal, value)
LEAVES(int, sigsuspend, (const sigset_t *set), set)
LEAVES(int, pause, (void))
LEAVES(int, sigtimedwait, (const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict time),
       set, info, time)

LEAVES(int, timer_create, (clockid_t clock, struct sigevent *event, timer_t *timer), clock, event, timer)
LEAVES(int, setitimer,
       (__itimer_which_t which, const struct itimerval *restrict new, struct itimerval *restrict old), which, new,
       old)

LEAVES(int, setrlimit, (__rlimit_resource_t resource, const struct rlimit *limit), resource, limit)
LEAVES(int, setpriority, (__priority_which_t which, id_t who, int priority), which, who, priority)
LEAVES(int, setuid, (uid_t user), user)
LEAVES(int, seteuid, (uid_t user), user)
LEAVES(int, setreuid, (uid_t real, uid_t effective), real, effective)
LEAVES(int, setresuid, (uid_t real, uid_t effective, uid_t saved), real, effective, saved)
LEAVES(int, setgid, (gid_t group), group)
LEAVES(int, setegid, (gid_t group), group)
LEAVES(int, setregid, (gid_t real, gid_t effective), real, effective)
LEAVES(int, setresgid, (gid_t real, gid_t effective, gid_t saved), real, effective, saved)
LEAVES(int, setgroups, (size_t count, const gid_t *groups), count, groups)
LEAVES(int, initgroups, (const char *user, gid_t group), user, group)
LEAVES(int, chroot, (const char *path), path)
LEAVES(int, unshare, (int flags), flags)

/* Their answers do not depend on what is undone. */
static bool is_harmless(long number) {
  switch (number) {
  case SYS_gettid:
  case SYS_getpid:
  case SYS_getppid:
  case SYS_getuid:
  case SYS_geteuid:
  case SYS_getgid:
  case SYS_getegid:
  case SYS_getrandom:
  case SYS_clock_gettime:
  case SYS_gettimeofday:
  case SYS_time:
  case SYS_read:
  case SYS_write:
  case SYS_lseek:
  case SYS_getdents64:
  case SYS_futex:
  case SYS_getcpu:
  case SYS_waitid:
    return true;
  default:
    return false;
  }
}

long INSTEAD(syscall)(long number, long a, long b, long c, long d, long e, long f) {
  if (!is_harmless(number))
    p3_leave_process();
  return syscall(number, a, b, c, d, e, f);
}

int INSTEAD(sigaltstack)(const stack_t *restrict new, stack_t *restrict old) {
  if (new)
    p3_leave_process();
  return sigaltstack(new, old);
}

int INSTEAD(sigaction)(int signal, const struct sigaction *restrict new, struct sigaction *restrict old) {
  return sigaction(signal, p3_in_process ? NULL : new, old);
}

/* Of the kernel's signals; libc's sets have room for more. */
static uint64_t mask;
static bool mask_known;

static uint64_t bits(const sigset_t *set) {
  uint64_t value;
  memcpy(&value, set, sizeof value);
  return value;
}

static int change_mask(int how, const sigset_t *set, sigset_t *old) {
  if (!mask_known) {
    sigset_t real;
    pthread_sigmask(SIG_SETMASK, NULL, &real);
    mask = bits(&real);
    mask_known = true;
  }
  uint64_t before = mask, given = set ? bits(set) : 0;
  if (set && how == SIG_BLOCK)
    mask |= given;
  else if (set && how == SIG_UNBLOCK)
    mask &= ~given;
  else if (set && how == SIG_SETMASK)
    mask = given;
  else if (set)
    return EINVAL;
  if (old) {
    memset(old, 0, sizeof *old);
    memcpy(old, &before, sizeof before);
  }
  return 0;
}

int INSTEAD(pthread_sigmask)(int how, const sigset_t *restrict set, sigset_t *restrict old) {
  return p3_in_process ? change_mask(how, set, old) : pthread_sigmask(how, set, old);
}

int INSTEAD(sigprocmask)(int how, const sigset_t *restrict set, sigset_t *restrict old) {
  int error = INSTEAD(pthread_sigmask)(how, set, old);
  if (!error)
    return 0;
  errno = error;
  return -1;
}

void p3_outside_reset(void) { mask_known = false; }

/* core/ aborts where a check fails; the versions' own abort never comes here. */
void INSTEAD(abort)(void) { p3_harness_verdict(); }
