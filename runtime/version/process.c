/* Processes: numbers, forking, waiting, groups and sessions.
 *
 * The version sees virtual numbers: those that the first version which forked that child, or asked, got. */
#include "p3v_process.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static pid_t process;                     /* 0: not asked for yet */
static pid_t parent_real, parent_virtual; /* 0: not a forked child */

pid_t p3v_process(void) {
  if (!process)
    process = getpid();
  return process;
}

/* Also as kill and waitpid have them: a negative one is a group, 0 and -1 stay. */
pid_t p3v_real(pid_t virtual) {
  if (virtual < -1)
    return -p3v_real(-virtual);
  if (virtual <= 0 || p3_in_klee())
    return virtual;
  return virtual == p3v_process() ? getpid() : p3_pid_real(p3v_index, virtual);
}

pid_t p3v_virtual(pid_t real) {
  if (real <= 0 || p3_in_klee())
    return real;
  return real == getpid() ? p3v_process() : p3_pid_virtual(p3v_index, real);
}

pid_t SHIM(getpid)(void) { return p3_in_klee() ? getpid() : p3v_process(); }
pid_t SHIM(__getpid)(void) { return SHIM(getpid)(); }

pid_t SHIM(getppid)(void) {
  pid_t answer;
  if (p3v_recall(P3_ASK_PARENT, &answer, sizeof answer))
    return answer;
  pid_t real = getppid();
  answer = real == parent_real ? parent_virtual : p3v_virtual(real);
  p3v_record(P3_ASK_PARENT, &answer, sizeof answer);
  return answer;
}

pid_t SHIM(gettid)(void) {
  if (p3_in_klee())
    return gettid();
  struct p3_thread *thread = p3_thread_self();
  if (!thread)
    return p3v_process();
  if (!thread->virtual_tid) {
    pid_t tid = thread->tid;
    if (!p3v_recall(P3_ASK_THREAD, &tid, sizeof tid))
      p3v_record(P3_ASK_THREAD, &tid, sizeof tid);
    p3_pid_pair(p3v_index, tid, thread->tid);
    thread->virtual_tid = tid;
  }
  return thread->virtual_tid;
}

/* ---- forking ---- */

static pid_t fork_as(pid_t (*fork)(int), bool plainly) {
  pid_t number = 0, parent = p3_in_klee() ? 0 : p3v_process();
  pid_t me = p3_in_klee() ? 0 : getpid();
  bool known = p3v_recall(P3_ASK_FORK, &number, sizeof number); /* the cursor has moved on then */
  if (!plainly)
    p3v_before_fork();
  pid_t real = fork(p3v_index);
  if (p3_in_klee())
    return real;
  int saved = errno;
  if (real == 0) {
    pid_t mine = getpid();
    if (!known) {
      number = mine;
      p3v_record(P3_ASK_FORK, &number, sizeof number);
    }
    process = number;
    parent_real = me;
    parent_virtual = parent;
    p3v_questions_restart();
    p3v_threads_forked();
  } else if (real > 0) {
    if (!known) {
      number = real;
      p3v_record(P3_ASK_FORK, &number, sizeof number);
    }
    p3_pid_pair(p3v_index, number, real);
  }
  if (!plainly)
    p3v_after_fork(real == 0);
  errno = saved;
  return real <= 0 ? real : number;
}

pid_t SHIM(fork)(void) { return fork_as(p3_fork, false); }
pid_t p3v_fork_plainly(void) { return fork_as(p3_fork, true); }

pid_t SHIM(__fork)(void) { return SHIM(fork)(); }
pid_t SHIM(__libc_fork)(void) { return SHIM(fork)(); }

/* By definition without those handlers. */
pid_t SHIM(_Fork)(void) { return p3v_fork_plainly(); }

pid_t SHIM(vfork)(void) { return fork_as(p3_vfork, true); }

pid_t SHIM(__vfork)(void) { return SHIM(vfork)(); }

int SHIM(daemon)(int nochdir, int noclose) {
  switch (SHIM(fork)()) {
  case -1:
    return -1;
  case 0:
    break;
  default:
    SHIM(_exit)(0);
    return -1;
  }
  if (setsid() < 0)
    return -1;
  if (!nochdir)
    p3_chdir(p3v_index, "/", -1);
  if (!noclose) {
    int null = p3_fd_install(p3v_index, open("/dev/null", O_RDWR), 0);
    if (null < 0)
      return -1;
    for (int fd = 0; fd <= 2; fd++)
      p3_fd_dup2(p3v_index, null, fd, false);
    if (null > 2)
      p3_fd_close(p3v_index, null);
  }
  return 0;
}

/* ---- waiting ---- */

static int status_of(const siginfo_t *info) {
  switch (info->si_code) {
  case CLD_EXITED:
    return (info->si_status & 0xff) << 8;
  case CLD_KILLED:
    return info->si_status;
  case CLD_DUMPED:
    return info->si_status | 0x80;
  case CLD_CONTINUED:
    return 0xffff;
  default:
    return info->si_status << 8 | 0x7f;
  }
}

pid_t SHIM(wait4)(pid_t child, int *status, int options, struct rusage *usage) {
  if (p3_in_klee())
    return wait4(child, status, options, usage);
  if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WCLONE | __WALL)) {
    errno = EINVAL;
    return -1;
  }
  idtype_t type = child > 0 ? P_PID : child == -1 ? P_ALL : P_PGID;
  pid_t id = child == -1 ? 0 : child == 0 ? getpgrp() : p3v_real(child < 0 ? -child : child);
  siginfo_t info;
  if (p3_wait(p3v_index, type, (id_t)id, &info, options | WEXITED, usage) != 0) {
    p3v_poll();
    return -1;
  }
  if (info.si_pid && status)
    *status = status_of(&info);
  pid_t found = p3v_virtual(info.si_pid);
  p3v_poll();
  return found;
}

pid_t SHIM(waitpid)(pid_t child, int *status, int options) {
  if (p3_in_klee())
    return waitpid(child, status, options);
  return SHIM(wait4)(child, status, options, NULL);
}

pid_t SHIM(__waitpid)(pid_t child, int *status, int options) { return SHIM(waitpid)(child, status, options); }
pid_t SHIM(wait)(int *status) { return SHIM(waitpid)(-1, status, 0); }
pid_t SHIM(__wait)(int *status) { return SHIM(wait)(status); }

pid_t SHIM(wait3)(int *status, int options, struct rusage *usage) {
  return SHIM(wait4)(-1, status, options, usage);
}

int SHIM(waitid)(idtype_t type, id_t id, siginfo_t *info, int options) {
  if (p3_in_klee())
    return waitid(type, id, info, options);
  if (type == P_PID || (type == P_PGID && id != 0))
    id = (id_t)p3v_real((pid_t)id);
  else if (type == P_PIDFD)
    id = (id_t)p3_fd_real(p3v_index, (int)id);
  siginfo_t found;
  int result = p3_wait(p3v_index, type, id, &found, options, NULL);
  if (result == 0 && info) {
    *info = found;
    info->si_pid = p3v_virtual(found.si_pid);
  }
  p3v_poll();
  return result;
}

/* ---- groups and sessions ---- */

static pid_t ask(enum p3_question question, pid_t real) {
  pid_t answer;
  if (!p3v_recall(question, &answer, sizeof answer)) {
    answer = p3v_virtual(real);
    p3v_record(question, &answer, sizeof answer);
  }
  return answer;
}

pid_t SHIM(getpgrp)(void) { return ask(P3_ASK_GROUP, getpgrp()); }

pid_t SHIM(getpgid)(pid_t of) {
  if (of == 0 || of == p3v_process())
    return SHIM(getpgrp)();
  return p3v_virtual(getpgid(p3v_real(of)));
}

pid_t SHIM(__getpgid)(pid_t of) { return SHIM(getpgid)(of); }

pid_t SHIM(getsid)(pid_t of) {
  if (of == 0 || of == p3v_process())
    return ask(P3_ASK_SESSION, getsid(0));
  return p3v_virtual(getsid(p3v_real(of)));
}

int SHIM(setpgid)(pid_t of, pid_t group) { return setpgid(p3v_real(of), p3v_real(group)); }
int SHIM(__setpgid)(pid_t of, pid_t group) { return SHIM(setpgid)(of, group); }
int SHIM(setpgrp)(void) { return SHIM(setpgid)(0, 0); }

/* A session cannot be left again: what one version did in the product's own process is what the others get.
 */
pid_t SHIM(setsid)(void) {
  static bool leads;
  pid_t session = !leads && p3_session_led && p3_only < 0 ? getpid() : setsid();
  if (session < 0)
    return -1;
  p3_session_led = leads = true;
  return p3v_virtual(session);
}

pid_t SHIM(tcgetpgrp)(int fd) {
  int real = p3_fd_meta(p3v_index, fd);
  return real < 0 ? -1 : p3v_virtual(tcgetpgrp(real));
}

int SHIM(tcsetpgrp)(int fd, pid_t group) {
  int real = p3_fd_meta(p3v_index, fd);
  return real < 0 ? -1 : tcsetpgrp(real, p3v_real(group));
}

pid_t SHIM(tcgetsid)(int fd) {
  int real = p3_fd_meta(p3v_index, fd);
  return real < 0 ? -1 : p3v_virtual(tcgetsid(real));
}
