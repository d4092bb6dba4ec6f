/* syscall(2): the calls that have a shim under their own name go there, all others to the kernel as they are.
 */
#include "p3v_process.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

pid_t SHIM(gettid)(void);
pid_t SHIM(getppid)(void);
pid_t SHIM(getpgrp)(void);
pid_t SHIM(getpgid)(pid_t of);
pid_t SHIM(getsid)(pid_t of);
pid_t SHIM(setsid)(void);
pid_t SHIM(vfork)(void);
pid_t SHIM(wait4)(pid_t child, int *status, int options, struct rusage *usage);
int SHIM(tgkill)(pid_t process, pid_t thread, int signal);
int SHIM(execve)(const char *path, char *const arguments[], char *const environment[]);
void SHIM(pthread_exit)(void *result);
int SHIM(clock_gettime)(clockid_t id, struct timespec *time);
int SHIM(gettimeofday)(struct timeval *restrict time, void *restrict zone);
time_t SHIM(time)(time_t *result);
ssize_t SHIM(getrandom)(void *buffer, size_t size, unsigned flags);
ssize_t SHIM(read)(int fd, void *bytes, size_t size);
ssize_t SHIM(write)(int fd, const void *bytes, size_t size);
ssize_t SHIM(readv)(int fd, const struct iovec *parts, int count);
ssize_t SHIM(writev)(int fd, const struct iovec *parts, int count);
off_t SHIM(lseek)(int fd, off_t offset, int whence);
int SHIM(open)(const char *path, int flags, ...);
int SHIM(openat)(int directory, const char *path, int flags, ...);
int SHIM(close)(int fd);
int SHIM(dup)(int fd);
int SHIM(dup2)(int from, int to);
int SHIM(dup3)(int from, int to, int flags);
int SHIM(pipe)(int fds[2]);
int SHIM(pipe2)(int fds[2], int flags);
int SHIM(fstat)(int fd, struct stat *stat);

static long tkill(pid_t thread, int signal) { return SHIM(tgkill)(SHIM(getpid)(), thread, signal); }

static long end_thread(int status) {
  if (p3_thread_self() || p3_thread_count(p3v_index) > 0)
    SHIM(pthread_exit)(NULL);
  else
    SHIM(_exit)(status);
  return 0;
}

long SHIM(syscall)(long number, ...) {
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; i++)
    a[i] = va_arg(arguments, long);
  va_end(arguments);
  switch (number) {
  case SYS_getpid:
    return SHIM(getpid)();
  case SYS_getppid:
    return SHIM(getppid)();
  case SYS_gettid:
    return SHIM(gettid)();
  case SYS_getpgrp:
    return SHIM(getpgrp)();
  case SYS_getpgid:
    return SHIM(getpgid)((pid_t)a[0]);
  case SYS_getsid:
    return SHIM(getsid)((pid_t)a[0]);
  case SYS_setsid:
    return SHIM(setsid)();
  case SYS_fork:
    return SHIM(fork)();
  case SYS_vfork:
    return SHIM(vfork)();
  case SYS_wait4:
    return SHIM(wait4)((pid_t)a[0], (int *)a[1], (int)a[2], (struct rusage *)a[3]);
  case SYS_kill:
    return SHIM(kill)((pid_t)a[0], (int)a[1]);
  case SYS_tkill:
    return tkill((pid_t)a[0], (int)a[1]);
  case SYS_tgkill:
    return SHIM(tgkill)((pid_t)a[0], (pid_t)a[1], (int)a[2]);
  case SYS_execve:
    return SHIM(execve)((const char *)a[0], (char *const *)a[1], (char *const *)a[2]);
  case SYS_exit:
    return end_thread((int)a[0]);
  case SYS_exit_group:
    SHIM(_exit)((int)a[0]);
    return 0;
  case SYS_clock_gettime:
    return SHIM(clock_gettime)((clockid_t)a[0], (struct timespec *)a[1]);
  case SYS_gettimeofday:
    return SHIM(gettimeofday)((struct timeval *)a[0], (void *)a[1]);
  case SYS_time:
    return SHIM(time)((time_t *)a[0]);
  case SYS_getrandom:
    return SHIM(getrandom)((void *)a[0], (size_t)a[1], (unsigned)a[2]);
  case SYS_read:
    return SHIM(read)((int)a[0], (void *)a[1], (size_t)a[2]);
  case SYS_write:
    return SHIM(write)((int)a[0], (const void *)a[1], (size_t)a[2]);
  case SYS_readv:
    return SHIM(readv)((int)a[0], (const struct iovec *)a[1], (int)a[2]);
  case SYS_writev:
    return SHIM(writev)((int)a[0], (const struct iovec *)a[1], (int)a[2]);
  case SYS_lseek:
    return SHIM(lseek)((int)a[0], (off_t)a[1], (int)a[2]);
  case SYS_open:
    return SHIM(open)((const char *)a[0], (int)a[1], (mode_t)a[2]);
  case SYS_openat:
    return SHIM(openat)((int)a[0], (const char *)a[1], (int)a[2], (mode_t)a[3]);
  case SYS_close:
    return SHIM(close)((int)a[0]);
  case SYS_dup:
    return SHIM(dup)((int)a[0]);
  case SYS_dup2:
    return SHIM(dup2)((int)a[0], (int)a[1]);
  case SYS_dup3:
    return SHIM(dup3)((int)a[0], (int)a[1], (int)a[2]);
  case SYS_pipe:
    return SHIM(pipe)((int *)a[0]);
  case SYS_pipe2:
    return SHIM(pipe2)((int *)a[0], (int)a[1]);
  case SYS_fstat:
    return SHIM(fstat)((int)a[0], (struct stat *)a[1]);
  case SYS_memfd_create:
  case SYS_pidfd_open:
  case SYS_eventfd2:
  case SYS_epoll_create1:
  case SYS_userfaultfd:
  case SYS_perf_event_open:
    if (number == SYS_pidfd_open)
      a[0] = p3v_real((pid_t)a[0]);
    return p3_fd_install(p3v_index, (int)syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]), 0);
  default:
    p3_enter(p3v_index);
    p3_captures_complete();
    return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
}
