/* Forking, and waiting for children.
 *
 * The kernel knows one parent; here each child belongs to the version that forked it. Waiting for "any child"
 * while other versions have children, too, looks first (WNOWAIT) and puts aside what is not for the asking
 * version. */
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

/* What happened to a child of a version that did not ask. */
struct event {
  struct event *next;
  int version;
  siginfo_t info;
  struct rusage usage;
};
static struct event *events;

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

static bool has_children(int version, bool others) {
  for (struct child *child = children; child; child = child->next)
    if ((child->version == version) != others)
      return true;
  return false;
}

/* ---- the same for everybody ---- */

int p3_child_version(pid_t real) {
  struct p3_guard guard;
  p3_lock(&guard);
  struct child *child = find(real);
  int version = child ? child->version : P3_NOBODY;
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
  bool has = has_children(version, false);
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
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  sigemptyset(&announced);
  sigaddset(&announced, SIGCHLD);
  bool is_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGCHLD);
  pid_t waited_for = waitable().si_pid;
  p3_shared->forked = true;
  pid_t between = fork();
  if (between == 0) {
    if (fork() != 0)
      _exit(0);
    signal(SIGPIPE, SIG_IGN);
    return 0;
  }
  while (between > 0 && waitpid(between, NULL, 0) < 0 && errno == EINTR)
    ;
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

/* ---- waiting ---- */

static int ask(idtype_t type, id_t id, siginfo_t *info, int options, struct rusage *usage) {
  memset(info, 0, sizeof *info);
  return (int)syscall(SYS_waitid, type, id, info, options, usage);
}

static bool fits(const siginfo_t *info, int options) {
  return p3_is_child_end(info)                     ? options & WEXITED
         : info->si_code == CLD_CONTINUED ? options & WCONTINUED
                                          : options & WSTOPPED;
}

/* Something that was put aside for the version. */
static bool take_event(int version, idtype_t type, id_t id, siginfo_t *info, int options,
                       struct rusage *usage) {
  for (struct event **link = &events; *link; link = &(*link)->next) {
    struct event *event = *link;
    if (event->version != version || !fits(&event->info, options) ||
        (type == P_PID && event->info.si_pid != (pid_t)id))
      continue;
    *info = event->info;
    if (usage)
      *usage = event->usage;
    if (!(options & WNOWAIT)) {
      *link = event->next;
      free(event);
    }
    return true;
  }
  return false;
}

/* The child has ended and was waited for. True: that was not yet seen. */
static bool forget(pid_t real) {
  struct child *child = find(real);
  bool unseen = child && child->end == UNSEEN;
  if (child && child->end != SEEN)
    waited[waited_count++ % WAITED] = real;
  take_off(real);
  return unseen;
}

/* A child of another version: takes what happened to it off the kernel's list. True: it ended, and that was not
 * yet seen. */
static bool put_aside(int version, pid_t real, int options, siginfo_t *info) {
  struct event *event = calloc(1, sizeof *event);
  struct rusage usage;
  if (ask(P_PID, (id_t)real, info, options | WNOHANG, &usage) != 0 || info->si_pid == 0) {
    free(event);
    return false;
  }
  bool unseen = p3_is_child_end(info) && forget(real);
  if (event && !p3_has_ended(version)) {
    *event = (struct event){events, version, *info, usage};
    events = event;
  } else {
    free(event);
  }
  return unseen;
}

static int wait_for_any(int version, idtype_t type, id_t id, siginfo_t *info, int options,
                        struct rusage *usage) {
  const int kinds = options & (WEXITED | WSTOPPED | WCONTINUED);
  for (;;) {
    struct p3_guard guard;
    p3_lock(&guard);
    bool taken = take_event(version, type, id, info, options, usage);
    bool mixed = has_children(version, true), any = has_children(version, false);
    p3_unlock(&guard);
    if (taken)
      return 0;
    if (!mixed)
      return ask(type, id, info, options, usage);
    if (!any) {
      errno = ECHILD;
      return -1;
    }
    if (ask(type, id, info, options | WNOWAIT, usage) != 0)
      return -1;
    if (info->si_pid == 0)
      return 0;
    int whose = p3_child_version(info->si_pid);
    if (whose < 0 || whose == version)
      return options & WNOWAIT ? 0 : ask(P_PID, (id_t)info->si_pid, info, options, usage);
    siginfo_t aside;
    p3_lock(&guard);
    bool unseen = put_aside(whose, info->si_pid, kinds, &aside);
    p3_unlock(&guard);
    if (unseen)
      p3_signals_child_waited(whose, &aside);
  }
}

int p3_wait(int version, idtype_t type, id_t id, siginfo_t *info, int options, struct rusage *usage) {
  if (p3_in_klee())
    return ask(type, id, info, options, usage);
  p3_touch(version);
  int result;
  if (type == P_PID || type == P_PIDFD) {
    struct p3_guard guard;
    p3_lock(&guard);
    bool taken = type == P_PID && take_event(version, type, id, info, options, usage);
    p3_unlock(&guard);
    result = taken ? 0 : ask(type, id, info, options, usage);
  } else {
    result = wait_for_any(version, type, id, info, options, usage);
  }
  int error = errno;
  if (result == 0 && info->si_pid && p3_is_child_end(info)) {
    if (!(options & WNOWAIT)) {
      struct p3_guard guard;
      p3_lock(&guard);
      bool unseen = forget(info->si_pid);
      p3_unlock(&guard);
      if (unseen)
        p3_signals_child_waited(version, info);
    }
    p3_pump_settle(version);
    p3_relay_settle(version);
    p3_show(version);
    p3_signals_poll(version);
  }
  errno = error;
  return result;
}

/* ---- versions end, processes fork ---- */

void p3_children_ended(int version) {
  struct p3_guard guard;
  p3_lock(&guard);
  for (struct event **link = &events; *link;) {
    struct event *event = *link;
    if (event->version == version) {
      *link = event->next;
      free(event);
    } else {
      link = &event->next;
    }
  }
  p3_unlock(&guard);
}

void p3_children_forked(void) {
  children = NULL;
  events = NULL;
  watched = false;
}
