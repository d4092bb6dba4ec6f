/* Forking, and whose children are whose: the kernel knows one parent, here each child belongs to the version that
 * forked it. wait.c is about waiting for them. */
#include "process.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct child {
  struct child *next;
  int version;
  pid_t real;
  /* That it ended: by its SIGCHLD, or without, which is still to come or was merged with another one. */
  enum { UNSEEN, ASSUMED, SEEN } end;
};
static struct child *children;

/* The last ones that were waited for before their own SIGCHLD was seen. */
#define WAITED 64
static pid_t waited[WAITED];
static unsigned waited_count;

bool p3_session_led;

/* ---- the list of children; call with the lock ---- */

static struct child *find(pid_t real) {
  struct child *child = children;
  while (child && child->real != real)
    child = child->next;
  return child;
}

static void take_off(pid_t real) {
  for (struct child **link = &children; *link; link = &(*link)->next)
    if ((*link)->real == real) {
      struct child *child = *link;
      *link = child->next;
      free(child);
      return;
    }
}

/* Whether waitid's type and id name the process, which may have ended. */
bool p3_child_is(pid_t real, idtype_t type, id_t id) {
  return type == P_ALL || (type == P_PID && real == (pid_t)id) ||
         (type == P_PGID && getpgid(real) == (id ? (pid_t)id : getpgrp()));
}

/* Where SIGCHLD is ignored children go by themselves, and nobody says so. */
static bool is_gone(pid_t real) {
  siginfo_t info;
  return waitid(P_PID, (id_t)real, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

pid_t p3_child_expected(int version, idtype_t type, id_t id) {
  for (struct child *next, *child = children; child; child = next) {
    pid_t real = child->real;
    next = child->next;
    if (child->version != version)
      continue;
    if (is_gone(real))
      p3_child_forget(real);
    else if (p3_child_is(real, type, id))
      return real;
  }
  return 0;
}

bool p3_child_any(void) { return children != NULL; }

pid_t p3_child_ready(int version, idtype_t type, id_t id, int options) {
  pid_t ready = 0; /* the oldest, as the kernel would find it: it is the last in the list */
  for (struct child *child = children; child; child = child->next) {
    siginfo_t info = {0};
    if (child->version == version && p3_child_is(child->real, type, id) &&
        waitid(P_PID, (id_t)child->real, &info, options | WNOHANG | WNOWAIT) == 0 && info.si_pid)
      ready = child->real;
  }
  return ready;
}

int p3_child_owner(pid_t real) {
  struct child *child = find(real);
  return child ? child->version : P3_NOBODY;
}

bool p3_child_forget(pid_t real) {
  struct child *child = find(real);
  bool unseen = child && child->end == UNSEEN;
  if (child && child->end != SEEN)
    waited[waited_count++ % WAITED] = real;
  take_off(real);
  return unseen;
}

/* ---- the same for everybody ---- */

int p3_child_version(pid_t real) {
  struct p3_guard guard;
  p3_lock(&guard);
  int version = p3_child_owner(real);
  p3_unlock(&guard);
  return version;
}

bool p3_is_child_end(const siginfo_t *info) {
  return info->si_code == CLD_EXITED || info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED;
}

/* The kernel keeps one SIGCHLD at most, of whichever child of whichever version was the first. */
bool p3_child_unseen(int version, siginfo_t *info) {
  bool found = false;
  struct p3_guard guard;
  if (!children)
    return false;
  p3_lock(&guard);
  for (struct child *child = children; child; child = child->next) {
    siginfo_t end = {0};
    if (child->version != version || child->end != UNSEEN ||
        waitid(P_PID, (id_t)child->real, &end, WEXITED | WNOHANG | WNOWAIT) != 0 || !end.si_pid)
      continue;
    child->end = ASSUMED;
    *info = end;
    found = true;
  }
  p3_unlock(&guard);
  return found;
}

/* Whether it was waited for; it is not among those any more. */
static bool take_waited(pid_t real) {
  for (int i = 0; i < WAITED; i++)
    if (waited[i] == real) {
      waited[i] = 0;
      return true;
    }
  return false;
}

bool p3_child_see(pid_t real) {
  struct p3_guard guard;
  p3_lock(&guard);
  struct child *child = find(real);
  bool is_new = child ? child->end == UNSEEN : !take_waited(real);
  if (child)
    child->end = SEEN;
  p3_unlock(&guard);
  return is_new;
}

bool p3_has_children(int version) {
  struct p3_guard guard;
  p3_lock(&guard);
  bool has = p3_child_expected(version, P_ALL, 0) != 0;
  p3_unlock(&guard);
  return has;
}

/* What a child prints must appear at once: somebody may be looking. Where the real stream is a pipe the relay
 * sees to that. */
static bool watched;

static void *watch(void *unused) {
  for (;;) {
    if (p3_here >= 0)
      p3_show(p3_here);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
  }
  return unused;
}

static void begin_to_watch(int version) {
  bool looking = false;
  for (int stream = 1; stream <= 2; stream++) {
    const struct p3_original *original = &p3_originals[stream];
    looking |= original->fd >= 0 && !S_ISFIFO(original->stat.st_mode) && !S_ISSOCK(original->stat.st_mode);
  }
  if (watched || !looking || !p3_is_shown(version))
    return;
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  watched = pthread_create(&thread, NULL, watch, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A child of any version that waits to be waited for, left waiting. Process number 0: none. */
static siginfo_t waitable(void) {
  siginfo_t info = {0};
  waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT);
  return info;
}

/* Twice. The end of the process in between is announced, too, and that is taken back: it may have been merged
 * with the announcement of a version's child, which is then made again. */
int p3_fork_apart(void) {
  sigset_t all, before, pending, announced;
  struct p3_guard guard;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  sigemptyset(&announced);
  sigaddset(&announced, SIGCHLD);
  bool is_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGCHLD);
  pid_t waited_for = waitable().si_pid;
  p3_shared->forked = true;
  p3_lock(&guard); /* a thread that waits for any child does not take this one */
  pid_t between = fork();
  if (between == 0) {
    if (fork() != 0)
      _exit(0);
    p3_unlock(&guard);
    signal(SIGPIPE, SIG_IGN);
    return 0;
  }
  while (between > 0 && waitpid(between, NULL, 0) < 0 && errno == EINTR)
    ;
  p3_unlock(&guard);
  siginfo_t info;
  if (between > 0 && !is_pending && sigtimedwait(&announced, &info, &(struct timespec){0, 0}) > 0) {
    bool is_ours = info.si_pid == between;
    if (is_ours)
      info = waitable();
    if (!is_ours || (info.si_pid && info.si_pid != waited_for))
      syscall(SYS_rt_sigqueueinfo, getpid(), SIGCHLD, &info);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return between > 0 ? 1 : -1;
}

pid_t p3_fork(int version) {
  if (p3_in_klee())
    return fork();
  struct child *child = malloc(sizeof *child);
  if (!child)
    return -1;
  p3_answers_open();
  p3_linger_forked(version);
  p3_enter(version);
  p3_signals_release();
  if (p3_only < 0)
    p3_relay_start(version);
  p3_shared->forked = true;
  struct p3_guard guard;
  p3_lock(&guard);
  pid_t real = fork();
  int error = errno;
  if (real == 0) {
    p3_forked(version);
    p3_process_forked(version);
  } else if (real > 0) {
    *child = (struct child){children, version, real, UNSEEN};
    take_waited(real);
    children = child;
    child = NULL;
    p3_rerun_child(real);
  }
  p3_unlock(&guard);
  free(child);
  if (real > 0 && p3_only < 0)
    begin_to_watch(version);
  errno = error;
  return real;
}

/* The parent must not go on before the child execs or ends. */
pid_t p3_vfork(int version) {
  int ends[2];
  if (p3_in_klee() || pipe2(ends, O_CLOEXEC) != 0)
    return p3_fork(version);
  ends[0] = p3_fd_hide(ends[0]);
  ends[1] = p3_fd_hide(ends[1]);
  pid_t real = p3_fork(version);
  if (real == 0) {
    close(ends[0]);
    return real;
  }
  int error = errno;
  close(ends[1]);
  char byte;
  while (real > 0 && read(ends[0], &byte, 1) < 0 && errno == EINTR)
    ;
  close(ends[0]);
  p3_show(version);
  errno = error;
  return real;
}

void p3_children_forked(void) {
  children = NULL;
  watched = false;
}
