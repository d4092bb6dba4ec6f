/* Waiting for children.
 *
 * Each version waits for its own children only. What the kernel has to say of any child of the process is looked at
 * first (WNOWAIT): it is taken if it is for the one who asks, else put aside for the version whose child that is.
 * If several threads wait, one of them, the leader, does so in the kernel. The others sleep, and look whenever
 * something was put aside or the leader has gone: what one of them waits for, another one may have taken from the
 * kernel already. Both ways of waiting are interrupted by signals, and made again, as wait is. */
#include "process.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KINDS (WEXITED | WSTOPPED | WCONTINUED)
#define OTHER_OPTIONS (WNOHANG | WNOWAIT | __WNOTHREAD | __WCLONE | __WALL)

/* What happened to a child of a version that did not ask. */
struct event {
  struct event *next;
  int version;
  pid_t group;
  siginfo_t info;
  struct rusage usage;
};
static struct event *events;

/* The thread that waits in the kernel; 0: none. */
static _Atomic pid_t leader;
/* Whatever may end the sleep of the others counts this up. */
static _Atomic unsigned changes;

/* One call of wait, waitpid, waitid, ... */
struct question {
  int version;
  idtype_t type;
  id_t id;
  int options;
  siginfo_t *info;
  struct rusage *usage;
};

static void wake(void) {
  atomic_fetch_add(&changes, 1);
  syscall(SYS_futex, &changes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static pid_t this_thread(void) { return (pid_t)syscall(SYS_gettid); }

void p3_wait_leave(void) {
  pid_t me = this_thread();
  if (atomic_compare_exchange_strong(&leader, &me, 0))
    wake();
}

static int ask(idtype_t type, id_t id, siginfo_t *info, int options, struct rusage *usage) {
  memset(info, 0, sizeof *info);
  return (int)syscall(SYS_waitid, type, id, info, options, usage);
}

static bool fits(const siginfo_t *info, int options) {
  return p3_is_child_end(info)            ? options & WEXITED
         : info->si_code == CLD_CONTINUED ? options & WCONTINUED
                                          : options & WSTOPPED;
}

static bool is_asked_for(const struct question *question, const struct event *event) {
  return question->type == P_PGID ? event->group == (question->id ? (pid_t)question->id : getpgrp())
                                  : p3_child_is(event->info.si_pid, question->type, question->id);
}

/* Something that was put aside is the answer. With the lock. */
static bool take_event(const struct question *question) {
  struct event **taken = NULL; /* the oldest, which is the last */
  for (struct event **link = &events; *link; link = &(*link)->next) {
    const struct event *event = *link;
    if (event->version == question->version && fits(&event->info, question->options) &&
        is_asked_for(question, event))
      taken = link;
  }
  if (!taken)
    return false;
  struct event *event = *taken;
  *question->info = event->info;
  if (question->usage)
    *question->usage = event->usage;
  if (!(question->options & WNOWAIT)) {
    *taken = event->next;
    free(event);
  }
  return true;
}

/* The child's is the answer, and is taken from the kernel. False: it is not there any more. With the lock. */
static bool take(const struct question *question, pid_t child, bool *unseen) {
  if (ask(P_PID, (id_t)child, question->info, question->options | WNOHANG, question->usage) != 0 ||
      question->info->si_pid == 0)
    return false;
  if (!(question->options & WNOWAIT) && p3_is_child_end(question->info))
    *unseen = p3_child_forget(child);
  return true;
}

/* Takes what there is of a child of `version`, which is not the answer, from the kernel. With the lock. */
static void put_aside(int version, pid_t child, int kinds, siginfo_t *info, bool *unseen) {
  struct event *event = calloc(1, sizeof *event);
  struct rusage usage;
  pid_t group = getpgid(child);
  if (ask(P_PID, (id_t)child, info, kinds | WNOHANG, &usage) != 0 || info->si_pid == 0) {
    free(event);
    return;
  }
  if (p3_is_child_end(info))
    *unseen = p3_child_forget(child);
  if (event && !p3_has_ended(version)) {
    *event = (struct event){events, version, group, *info, usage};
    events = event;
  } else {
    free(event);
  }
}

/* The kernel has something of `child`. True: that was the answer; false: it was put aside, or somebody was quicker. */
static bool settle(const struct question *question, pid_t child, int kinds) {
  siginfo_t info = {0};
  bool unseen = false, taken = false;
  struct p3_guard guard;
  p3_lock(&guard);
  int whose = p3_child_owner(child);
  if (whose < 0) /* not forked by way of p3_fork: then somebody of this version did it */
    whose = question->version;
  if (whose == question->version && p3_child_is(child, question->type, question->id))
    taken = take(question, child, &unseen);
  if (taken)
    info = *question->info;
  else
    put_aside(whose, child, kinds, &info, &unseen);
  p3_unlock(&guard);
  if (!taken)
    wake();
  if (unseen)
    p3_signals_child_waited(whose, &info);
  return taken;
}

/* What is known without waiting. */
enum answer { NO_CHILD, NOT_YET, ANSWERED };
static enum answer answer_at_once(const struct question *question) {
  bool unseen = false;
  struct p3_guard guard;
  p3_lock(&guard);
  bool taken = take_event(question);
  bool own = !taken && p3_child_expected(question->version, question->type, question->id);
  bool unknown = !own && !p3_child_any(); /* what other than versions' calls has started, if anything, counts */
  bool exists = taken || own || unknown;
  if (!taken && exists && (unknown || question->options & WNOHANG)) {
    const int kinds = question->options & KINDS;
    siginfo_t info;
    exists = ask(question->type, question->id, &info, kinds | WNOHANG | WNOWAIT, NULL) == 0;
    pid_t ready = exists ? info.si_pid : 0;
    if (ready && own && p3_child_owner(ready) != question->version)
      ready = p3_child_ready(question->version, question->type, question->id, kinds);
    taken = ready && take(question, ready, &unseen);
  }
  p3_unlock(&guard);
  if (unseen)
    p3_signals_child_waited(question->version, question->info);
  return taken ? ANSWERED : exists ? NOT_YET : NO_CHILD;
}

/* Waits until something is known. Fails with EINTR. */
static int answer(const struct question *question) {
  const int kinds = p3_has_threads() ? KINDS : question->options & KINDS;
  for (;;) {
    unsigned seen = atomic_load(&changes);
    enum answer known = answer_at_once(question);
    if (known == NO_CHILD)
      errno = ECHILD;
    if (known == NOT_YET && question->options & WNOHANG)
      memset(question->info, 0, sizeof *question->info);
    if (known != NOT_YET || question->options & WNOHANG)
      return known == NO_CHILD ? -1 : 0;
    pid_t other = 0, me = this_thread();
    if (!atomic_compare_exchange_strong(&leader, &other, me) && other != me) {
      if (syscall(SYS_futex, &changes, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0) != 0 && errno == EINTR)
        return -1;
      continue;
    }
    siginfo_t info;
    if (ask(P_ALL, 0, &info, kinds | WNOWAIT, NULL) != 0) {
      int error = errno;
      if (error == ECHILD && answer_at_once(question) == ANSWERED)
        return 0;
      errno = error;
      return -1;
    }
    if (settle(question, info.si_pid, kinds))
      return 0;
  }
}

/* Whether nobody has to wait for a child that has ended: then there is nothing to be put aside. */
static bool is_automatic(void) {
  struct sigaction now;
  return sigaction(SIGCHLD, NULL, &now) == 0 && (now.sa_handler == SIG_IGN || now.sa_flags & SA_NOCLDWAIT);
}

/* One child that nobody else takes from the kernel. */
static int answer_directly(const struct question *question) {
  struct p3_guard guard;
  p3_lock(&guard);
  bool taken = take_event(question);
  p3_unlock(&guard);
  if (taken)
    return 0;
  if (ask(question->type, question->id, question->info, question->options, question->usage) != 0)
    return -1;
  pid_t child = question->info->si_pid;
  p3_lock(&guard);
  bool unseen = child && !(question->options & WNOWAIT) && p3_is_child_end(question->info) && p3_child_forget(child);
  p3_unlock(&guard);
  if (unseen)
    p3_signals_child_waited(question->version, question->info);
  return 0;
}

/* Whether it is known whose the process's children are: versions' calls have started them, not a library unseen. */
static bool are_known(const struct question *question) {
  struct p3_guard guard;
  p3_lock(&guard);
  bool known = p3_child_expected(question->version, question->type, question->id) || p3_child_any();
  p3_unlock(&guard);
  return known;
}

/* Children that go by themselves, one after the other: somebody who waits for any child at the kernel would wait for
 * the other versions', too. */
static int answer_automatic(const struct question *question) {
  struct question one = *question;
  one.type = P_PID;
  for (;;) {
    struct p3_guard guard;
    p3_lock(&guard);
    pid_t child = p3_child_expected(question->version, question->type, question->id);
    p3_unlock(&guard);
    one.id = (id_t)child;
    if (!child)
      errno = ECHILD;
    if (!child || answer_directly(&one) == 0)
      return child ? 0 : -1;
    if (errno != ECHILD)
      return -1;
  }
}

int p3_wait(int version, idtype_t type, id_t id, siginfo_t *info, int options, struct rusage *usage) {
  if (p3_in_klee())
    return ask(type, id, info, options, usage);
  p3_touch(version);
  bool known = type == P_ALL || type == P_PID || type == P_PGID || type == P_PIDFD;
  if (!known || !(options & KINDS) || options & ~(KINDS | OTHER_OPTIONS)) {
    errno = EINVAL;
    return -1;
  }
  const struct question question = {version, type, id, options, info, usage};
  int result;
  if (type == P_PIDFD || options & (__WCLONE | __WNOTHREAD) ||
      (type == P_PID && (!p3_has_threads() || is_automatic()))) {
    result = answer_directly(&question);
  } else if (type != P_PID && (options & (KINDS | WNOHANG)) == WEXITED && is_automatic() && are_known(&question)) {
    result = answer_automatic(&question);
  } else {
    bool nested = atomic_load(&leader) == this_thread(); /* in a handler of a signal that came while it waited */
    result = answer(&question);
    int error = errno;
    if (!nested)
      p3_wait_leave();
    errno = error;
  }
  int error = errno;
  if (result == 0 && info->si_pid && p3_is_child_end(info)) {
    p3_pump_settle(version);
    p3_relay_settle(version);
    p3_show(version);
    p3_signals_poll(version);
  }
  errno = error;
  return result;
}

/* ---- versions end, processes fork ---- */

void p3_wait_ended(int version) {
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

void p3_wait_forked(void) {
  events = NULL;
  leader = 0;
}
