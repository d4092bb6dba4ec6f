/* Signals: dispositions and sending.
 *
 * Natively core/signals.c and the kernel do the work. In KLEE there are no signals: there a version's signals
 * to itself are delivered here, with a mask and a set of pending ones of its own. */
#include "p3v_process.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(signal) (1ull << ((signal)-1))
#define LAST 64
/* The kernel's flag for "has a restorer", which libc adds and shows. */
#define RESTORER 0x04000000

static uint64_t interrupting; /* by siginterrupt */

void p3v_poll(void) {
  p3_signals_poll(p3v_index);
  if (P3_ME->doomed && P3_ME->end == P3_RUNNING)
    p3v_die_at_once(P3_SIGNALED, P3_ME->doomed);
}

/* ---- in KLEE ---- */

static uint64_t blocked, pending;

static uint64_t bits(const sigset_t *set) {
  uint64_t value;
  memcpy(&value, set, sizeof value);
  return value;
}

static sigset_t set_of(uint64_t value) {
  sigset_t set;
  memset(&set, 0, sizeof set);
  memcpy(&set, &value, sizeof value);
  return set;
}

static void deliver(int signal) {
  struct p3_disposition now;
  p3_signal_set(p3v_index, signal, NULL, &now);
  if (now.handler == SIG_IGN || (now.handler == SIG_DFL && !p3_signal_is_fatal(signal)))
    return;
  if (now.handler == SIG_DFL) {
    p3v_die_at_once(P3_SIGNALED, signal);
    return;
  }
  if (now.flags & (int)SA_RESETHAND) {
    struct p3_disposition none = {.handler = SIG_DFL};
    p3_signal_set(p3v_index, signal, &none, NULL);
  }
  uint64_t before = blocked;
  blocked |= bits(&now.mask) | (now.flags & SA_NODEFER ? 0 : BIT(signal));
  if (now.flags & SA_SIGINFO) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = signal;
    info.si_code = SI_TKILL;
    ((void (*)(int, siginfo_t *, void *))now.handler)(signal, &info, NULL);
  } else {
    now.handler(signal);
  }
  blocked = before;
}

static void deliver_pending(void) {
  for (int signal = 1; signal <= LAST; signal++)
    if (pending & ~blocked & BIT(signal)) {
      pending &= ~BIT(signal);
      deliver(signal);
    }
}

static int send_in_klee(int signal) {
  if (signal < 0 || signal > LAST) {
    errno = EINVAL;
    return -1;
  }
  if (signal && blocked & BIT(signal))
    pending |= BIT(signal);
  else if (signal)
    deliver(signal);
  return 0;
}

static int mask_in_klee(int how, const sigset_t *set, sigset_t *old) {
  uint64_t before = blocked;
  if (set && how == SIG_BLOCK)
    blocked |= bits(set);
  else if (set && how == SIG_UNBLOCK)
    blocked &= ~bits(set);
  else if (set && how == SIG_SETMASK)
    blocked = bits(set);
  else if (set)
    return EINVAL;
  if (old)
    *old = set_of(before);
  if (set)
    deliver_pending();
  return 0;
}

/* ---- dispositions ---- */

static int change(int signal, const struct p3_disposition *new, struct p3_disposition *old) {
  return p3_signal_set(p3v_index, signal, new, old);
}

int SHIM(sigaction)(int signal, const struct sigaction *restrict new, struct sigaction *restrict old) {
  struct p3_disposition wanted, was;
  if (new) {
    wanted.handler = new->sa_handler;
    wanted.mask = new->sa_mask;
    wanted.flags = new->sa_flags | RESTORER;
  }
  if (change(signal, new ? &wanted : NULL, &was) != 0)
    return -1;
  if (old) {
    memset(old, 0, sizeof *old);
    old->sa_handler = was.handler;
    old->sa_mask = was.mask;
    old->sa_flags = was.flags;
  }
  return 0;
}

int SHIM(__sigaction)(int signal, const struct sigaction *restrict new, struct sigaction *restrict old) {
  return SHIM(sigaction)(signal, new, old);
}

static sighandler_t install(int signal, sighandler_t handler, int flags, uint64_t mask) {
  struct p3_disposition new = {.handler = handler, .mask = set_of(mask), .flags = flags | RESTORER}, old;
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  return change(signal, &new, &old) == 0 ? old.handler : SIG_ERR;
}

static bool is_number(int signal) { return signal > 0 && signal <= LAST; }

sighandler_t SHIM(signal)(int signal, sighandler_t handler) {
  uint64_t bit = is_number(signal) ? BIT(signal) : 0;
  return install(signal, handler, interrupting & bit ? 0 : SA_RESTART, bit);
}

sighandler_t SHIM(bsd_signal)(int signal, sighandler_t handler) { return SHIM(signal)(signal, handler); }
sighandler_t SHIM(ssignal)(int signal, sighandler_t handler) { return SHIM(signal)(signal, handler); }

sighandler_t SHIM(__sysv_signal)(int signal, sighandler_t handler) {
  return install(signal, handler, (int)SA_RESETHAND | SA_NODEFER, 0);
}

sighandler_t SHIM(sysv_signal)(int signal, sighandler_t handler) {
  return SHIM(__sysv_signal)(signal, handler);
}

int SHIM(siginterrupt)(int signal, int interrupt) {
  struct p3_disposition now;
  if (change(signal, NULL, &now) != 0)
    return -1;
  if (interrupt) {
    interrupting |= BIT(signal);
    now.flags &= ~SA_RESTART;
  } else {
    interrupting &= ~BIT(signal);
    now.flags |= SA_RESTART;
  }
  return change(signal, &now, NULL);
}

/* ---- masks ---- */

static int change_mask(int how, const sigset_t *set, sigset_t *old) {
  int error = p3_in_klee() ? mask_in_klee(how, set, old) : p3_signal_mask(p3v_index, how, set, old);
  p3v_poll();
  return error;
}

int SHIM(pthread_sigmask)(int how, const sigset_t *restrict set, sigset_t *restrict old) {
  return change_mask(how, set, old);
}

int SHIM(sigprocmask)(int how, const sigset_t *restrict set, sigset_t *restrict old) {
  int error = change_mask(how, set, old);
  if (error) {
    errno = error;
    return -1;
  }
  return 0;
}

int SHIM(sigpending)(sigset_t *set) {
  if (!p3_in_klee()) {
    p3_enter(p3v_index);
    return p3_signal_pending(set);
  }
  *set = set_of(pending);
  return 0;
}

int SHIM(sigblock)(int mask) {
  sigset_t set = set_of((unsigned)mask), old;
  return SHIM(sigprocmask)(SIG_BLOCK, &set, &old) == 0 ? (int)bits(&old) : -1;
}

int SHIM(sigsetmask)(int mask) {
  sigset_t set = set_of((unsigned)mask), old;
  return SHIM(sigprocmask)(SIG_SETMASK, &set, &old) == 0 ? (int)bits(&old) : -1;
}

int SHIM(siggetmask)(void) { return SHIM(sigblock)(0); }

/* ---- System V's interface ---- */

static int change_one(int how, int signal) {
  if (!is_number(signal)) {
    errno = EINVAL;
    return -1;
  }
  sigset_t set = set_of(BIT(signal));
  return SHIM(sigprocmask)(how, &set, NULL);
}

int SHIM(sighold)(int signal) { return change_one(SIG_BLOCK, signal); }
int SHIM(sigrelse)(int signal) { return change_one(SIG_UNBLOCK, signal); }
int SHIM(sigignore)(int signal) { return install(signal, SIG_IGN, 0, 0) == SIG_ERR ? -1 : 0; }

sighandler_t SHIM(sigset)(int signal, sighandler_t handler) {
  sigset_t old;
  struct p3_disposition was;
  if (handler == SIG_ERR || !is_number(signal) || change(signal, NULL, &was) != 0) {
    errno = EINVAL;
    return SIG_ERR;
  }
  sigset_t set = set_of(BIT(signal));
  if (handler != SIG_HOLD && install(signal, handler, 0, 0) == SIG_ERR)
    return SIG_ERR;
  if (SHIM(sigprocmask)(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &set, &old) != 0)
    return SIG_ERR;
  return bits(&old) & BIT(signal) ? SIG_HOLD : was.handler;
}

/* ---- waiting ---- */

/* sigsuspend(2) and, if `mask` is null, pause(2). */
static int suspend(const sigset_t *mask) {
  sigset_t present;
  if (!mask) {
    p3_signal_mask(p3v_index, SIG_BLOCK, NULL, &present);
    mask = &present;
  }
  struct p3_waiting waiting;
  int result;
  p3_wait_begin(&waiting, p3v_index, NULL, mask);
  do
    result = sigsuspend(waiting.mask);
  while (p3_wait_again(&waiting, result < 0));
  p3v_poll();
  return result;
}

int SHIM(pause)(void) { return p3_in_klee() ? pause() : suspend(NULL); }

int SHIM(sigsuspend)(const sigset_t *set) {
  if (p3_in_klee()) {
    uint64_t before = blocked;
    blocked = bits(set);
    deliver_pending();
    blocked = before;
    errno = EINTR;
    return -1;
  }
  p3_enter(p3v_index);
  return suspend(set);
}

int SHIM(__sigsuspend)(const sigset_t *set) { return SHIM(sigsuspend)(set); }

/* X/Open's takes a signal, BSD's a mask. */
int SHIM(__xpg_sigpause)(int signal) {
  if (!is_number(signal)) {
    errno = EINVAL;
    return -1;
  }
  sigset_t set;
  if (SHIM(sigprocmask)(SIG_BLOCK, NULL, &set) != 0)
    return -1;
  set = set_of(bits(&set) & ~BIT(signal));
  return SHIM(sigsuspend)(&set);
}

int SHIM(__sigpause)(int argument, int is_signal) {
  if (is_signal)
    return SHIM(__xpg_sigpause)(argument);
  sigset_t set = set_of((unsigned)argument);
  return SHIM(sigsuspend)(&set);
}

int SHIM(sigpause)(int mask) { return SHIM(__sigpause)(mask, 0); }

static int take_in_klee(const sigset_t *set, siginfo_t *info) {
  for (int signal = 1; signal <= LAST; signal++)
    if (pending & bits(set) & BIT(signal)) {
      pending &= ~BIT(signal);
      memset(info, 0, sizeof *info);
      info->si_signo = signal;
      return signal;
    }
  errno = EAGAIN;
  return -1;
}

int SHIM(sigtimedwait)(const sigset_t *restrict set, siginfo_t *restrict info,
                       const struct timespec *restrict timeout) {
  siginfo_t taken;
  int signal;
  if (p3_in_klee()) {
    signal = take_in_klee(set, &taken);
  } else {
    sigset_t real = p3_signal_waiting_mask(set);
    p3_enter(p3v_index);
    struct p3_waiting waiting;
    p3_wait_begin(&waiting, p3v_index, timeout, NULL);
    bool other;
    do {
      signal = sigtimedwait(&real, &taken, waiting.timeout);
      other = signal > 0 && !p3_signal_taken(p3v_index, &taken);
      if (other)
        errno = EINTR;
    } while (p3_wait_again(&waiting, signal < 0 || other));
    if (signal > 0) {
      if (taken.si_code <= 0 || signal == SIGCHLD)
        taken.si_pid = p3v_virtual(taken.si_pid);
    }
  }
  if (signal > 0 && info)
    *info = taken;
  p3v_poll();
  return signal;
}

int SHIM(sigwaitinfo)(const sigset_t *restrict set, siginfo_t *restrict info) {
  return SHIM(sigtimedwait)(set, info, NULL);
}

int SHIM(sigwait)(const sigset_t *restrict set, int *restrict signal) {
  for (;;) {
    int saved = errno;
    int got = SHIM(sigtimedwait)(set, NULL, NULL);
    int error = errno;
    errno = saved;
    if (got > 0) {
      *signal = got;
      return 0;
    }
    if (error != EINTR)
      return error;
  }
}

/* ---- sending ---- */

/* To the whole process that the version is. */
static int send_itself(int signal) {
  if (p3_in_klee())
    return send_in_klee(signal);
  struct p3_disposition now;
  if (signal == SIGKILL ||
      (signal == SIGSTKFLT && change(signal, NULL, &now) == 0 && now.handler == SIG_DFL)) {
    p3v_die_at_once(P3_SIGNALED, signal);
    return 0;
  }
  p3_enter(p3v_index);
  int result = kill(getpid(), signal);
  p3v_poll();
  return result;
}

int SHIM(raise)(int signal) {
  if (p3_in_klee() || signal == SIGKILL || signal == SIGSTKFLT)
    return send_itself(signal);
  p3_enter(p3v_index);
  p3_raising = signal == SIGABRT;
  int result = raise(signal);
  p3_raising = false;
  p3v_poll();
  return result;
}

int p3v_raise(int signal) { return SHIM(raise)(signal); }

int SHIM(gsignal)(int signal) { return SHIM(raise)(signal); }

int SHIM(kill)(pid_t process, int signal) {
  if (process > 0 && process == SHIM(getpid)())
    return send_itself(signal);
  int result = p3_signal_send(p3v_index, p3v_real(process), signal);
  p3v_poll();
  return result;
}

int SHIM(__kill)(pid_t process, int signal) { return SHIM(kill)(process, signal); }

int SHIM(killpg)(pid_t group, int signal) {
  if (group < 0) {
    errno = EINVAL;
    return -1;
  }
  return SHIM(kill)(group == 1 ? -1 : -group, signal);
}

int SHIM(tgkill)(pid_t process, pid_t thread, int signal) {
  if (signal == SIGKILL && process == p3v_process())
    return send_itself(signal);
  p3_raising = signal == SIGABRT;
  int result = (int)syscall(SYS_tgkill, p3v_real(process), p3v_real(thread), signal);
  p3_raising = false;
  p3v_poll();
  return result;
}

int SHIM(pthread_kill)(pthread_t thread, int signal) {
  if (signal == SIGKILL || p3_in_klee())
    return send_itself(signal) == 0 ? 0 : errno;
  p3_enter(p3v_index);
  p3_raising = signal == SIGABRT;
  int result = pthread_kill(thread, signal);
  p3_raising = false;
  p3v_poll();
  return result;
}

int SHIM(pthread_sigqueue)(pthread_t thread, int signal, const union sigval value) {
  int result = pthread_sigqueue(thread, signal, value);
  p3v_poll();
  return result;
}

int SHIM(sigqueue)(pid_t process, int signal, const union sigval value) {
  if (process == SHIM(getpid)() && (signal == SIGKILL || p3_in_klee()))
    return send_itself(signal);
  p3_enter(p3v_index);
  int result = sigqueue(p3v_real(process), signal, value);
  p3v_poll();
  return result;
}

/* ---- stacks ---- */

int SHIM(sigaltstack)(const stack_t *restrict new, stack_t *restrict old) {
  if (!p3_in_klee())
    return p3_signal_stack(p3v_index, new, old);
  static stack_t stack = {.ss_flags = SS_DISABLE};
  stack_t before = stack;
  if (new)
    stack = *new;
  if (old)
    *old = before;
  return 0;
}
