/* Signals.
 *
 * Each version has its own dispositions. The kernel's are the owner's (switch.c), except that a handler of
 * the program is called through on_signal here, and that what would end the process is caught here, too,
 * since it must end one version only. So everything else (restarted system calls, masks, waiting for signals,
 * coalescing) is the kernel's own work. on_signal finds out whom a signal is for: what the process sent
 * itself, its timers and its faults for the version that runs, a child's end for the version that has that
 * child, the rest for all versions, also for those that run later (outside.c).
 *
 * In lock-step a version gets a signal while it owns the process; what comes for it at another time is kept
 * (pending.c). It may be about to wait for just that signal, as the owner does. So it gets it when it waits a
 * little later, else, if it does not come to that, wherever it stands after some processor time. That signals for
 * others do not interrupt the owner's system calls, the kernel's dispositions all restart them; those that are
 * to be interrupted are made to fail on return.
 *
 * The signals of faults are never really blocked: the kernel kills a process that faults while they are. */
#include "process.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIGNALS 65
#define STACK_SIZE (256 << 10)

#define FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS))
#define NOT_FATAL                                                                                            \
  (BIT(SIGCHLD) | BIT(SIGURG) | BIT(SIGWINCH) | BIT(SIGCONT) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU) |  \
   BIT(SIGSTOP))
/* Sent by the kernel in answer to what somebody else did. */
#define BY_TERMINAL                                                                                          \
  (BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGHUP) | BIT(SIGTSTP) | BIT(SIGCONT) | BIT(SIGWINCH) | BIT(SIGTTIN) |   \
   BIT(SIGTTOU) | BIT(SIGPWR))

static struct p3_disposition wanted[P3_MAX_VERSIONS][SIGNALS];
static uint64_t touched; /* signals that a version ever did something about */
bool p3_signals_touched;
static struct sigaction originals[SIGNALS];
static sigset_t original_mask;

/* The main thread's mask and stack for handlers in each version that does not own the process. */
static sigset_t masks[P3_MAX_VERSIONS];
static stack_t stacks[P3_MAX_VERSIONS];
static bool masks_touched, stacks_touched;
static stack_t own_stack;

/* Signals that the thread believes to be blocked, though they are not, and those of them that came. */
static _Thread_local uint64_t believed, held;
static uint64_t believed_by[P3_MAX_VERSIONS], held_by[P3_MAX_VERSIONS];

/* How many signals each version's handlers have got. */
static volatile uint32_t handled[P3_MAX_VERSIONS];

/* Not calls of memcpy: this is what a version's turn begins with. */
static uint64_t bits(const sigset_t *set) {
  uint64_t value;
  __builtin_memcpy(&value, set, sizeof value);
  return value;
}

static sigset_t set_of(uint64_t value) {
  sigset_t set;
  sigemptyset(&set);
  __builtin_memcpy(&set, &value, sizeof value);
  return set;
}

static bool can_be_caught(int signal) {
  return signal > 0 && signal < SIGNALS && signal != SIGKILL && signal != SIGSTOP &&
         (signal < 32 || signal >= SIGRTMIN);
}

static bool is_fault(int signal) { return FAULTS & BIT(signal); }

bool p3_signal_is_fatal(int signal) { return !(NOT_FATAL & BIT(signal)); }

bool p3_signal_is_caught(int version, int signal) {
  void (*handler)(int) = wanted[version][signal].handler;
  return handler != SIG_DFL && handler != SIG_IGN;
}

/* ---- the real dispositions ---- */

static void on_signal(int signal, siginfo_t *info, void *context);

/* Whether nobody but a tool that the product was built with may catch it. */
static bool is_left_alone(int signal) {
  return signal != KICK &&
         (p3_config.fuzzed || (p3_config.sanitized && (is_fault(signal) || signal == SIGABRT)));
}

static bool is_default_fatal(int version, int signal) {
  return wanted[version][signal].handler == SIG_DFL && p3_signal_is_fatal(signal);
}

/* Whether the version would lose the signal. */
static bool ignores(int version, int signal) {
  return !p3_signal_is_caught(version, signal) && !is_default_fatal(version, signal);
}

static bool is_interleaved(void) { return p3_lockstep && p3_only < 0; }

static bool all_ignore(int signal) {
  for (int i = 0; i < p3_count; i++)
    if (!p3_has_ended(i) && !ignores(i, signal))
      return false;
  return true;
}

static struct sigaction real_disposition(int version, int signal) {
  const struct p3_disposition *want = &wanted[version][signal];
  struct sigaction real = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  sigemptyset(&real.sa_mask);
  if (signal == KICK)
    return real;
  if (is_interleaved() && ignores(version, signal) && !is_left_alone(signal) && !all_ignore(signal))
    return real;
  /* The kernel kills a process that ignores its own faults. */
  if (want->handler == SIG_IGN && is_fault(signal) && !is_left_alone(signal) && p3_only < 0)
    return real;
  if (want->handler == SIG_IGN)
    return (struct sigaction){.sa_handler = SIG_IGN};
  if (want->handler == SIG_DFL) {
    if (is_left_alone(signal))
      return originals[signal];
    return p3_signal_is_fatal(signal) && p3_only < 0 ? real : (struct sigaction){.sa_handler = SIG_DFL};
  }
  real.sa_flags =
      SA_SIGINFO | (want->flags & (SA_NOCLDSTOP | SA_NOCLDWAIT | SA_ONSTACK | SA_RESTART | SA_NODEFER));
  if (signal == SIGSEGV || signal == SIGBUS)
    real.sa_flags |= SA_ONSTACK; /* the stack may be what is missing */
  if (p3_lockstep)
    real.sa_flags |= SA_RESTART;
  real.sa_mask = p3_signal_waiting_mask(&want->mask);
  return real;
}

static void install(int version, int signal) {
  struct sigaction real = real_disposition(version, signal);
  sigaction(signal, &real, NULL);
}

int p3_signal_set(int version, int signal, const struct p3_disposition *new, struct p3_disposition *old) {
  if (signal <= 0 || signal >= SIGNALS || (new && !can_be_caught(signal))) {
    errno = EINVAL;
    return -1;
  }
  if (p3_in_klee()) {
    if (old)
      *old = wanted[version][signal];
    if (new)
      wanted[version][signal] = *new;
    return 0;
  }
  struct p3_guard guard;
  p3_lock(&guard);
  if (old)
    *old = wanted[version][signal];
  if (new) {
    touched |= BIT(signal);
    p3_signals_touched = true;
    wanted[version][signal] = *new;
    if (p3_here == version || (is_interleaved() && p3_here >= 0))
      install(p3_here, signal);
  }
  p3_unlock(&guard);
  return 0;
}

/* ---- masks and stacks ---- */

sigset_t p3_signal_waiting_mask(const sigset_t *mask) { return set_of(bits(mask) & ~(FAULTS | BIT(KICK))); }

static void release_held(void) {
  uint64_t released = held & ~believed;
  held &= believed;
  for (int signal = 1; released; signal++)
    if (released & BIT(signal)) {
      released &= ~BIT(signal);
      syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    }
}

int p3_signal_mask(int version, int how, const sigset_t *set, sigset_t *old) {
  p3_enter(version);
  p3_signals_release();
  uint64_t before = believed;
  sigset_t real, *new = NULL;
  if (set) {
    uint64_t special = bits(set) & (FAULTS | BIT(KICK));
    real = p3_signal_waiting_mask(set);
    new = &real;
    masks_touched = true;
    if (how == SIG_BLOCK)
      believed |= special;
    else if (how == SIG_UNBLOCK)
      believed &= ~special;
    else if (how == SIG_SETMASK)
      believed = special;
  }
  sigset_t was;
  int error = pthread_sigmask(how, new, &was);
  if (error == 0 && old)
    *old = set_of(bits(&was) | before);
  if (error == 0 && set && held)
    release_held();
  return error;
}

int p3_signal_pending(sigset_t *set) {
  sigset_t real;
  if (sigpending(&real) != 0)
    return -1;
  *set = set_of(bits(&real) | held);
  return 0;
}

int p3_signal_stack(int version, const stack_t *new, stack_t *old) {
  struct p3_thread *thread = p3_thread_self();
  const stack_t *fallback = thread ? &thread->stack : &own_stack;
  p3_enter(version);
  const stack_t *real = new &&new->ss_flags &SS_DISABLE && fallback->ss_sp ? fallback : new;
  stack_t was;
  if (sigaltstack(real, &was) != 0)
    return -1;
  if (new && !thread)
    stacks_touched = true;
  if (old) {
    *old = was;
    if (was.ss_sp == fallback->ss_sp && !(was.ss_flags & SS_DISABLE))
      *old = (stack_t){.ss_flags = SS_DISABLE};
  }
  return 0;
}

/* ---- delivery ---- */

/* A signal that everybody would die of. What was captured is shown first, as it would be there already. */
static void die_for_real(int signal) {
  for (int i = 0; i < p3_count; i++)
    p3_show(i);
  struct sigaction real = {.sa_handler = SIG_DFL};
  sigaction(signal, &real, NULL);
  sigset_t set = set_of(BIT(signal));
  kill(getpid(), signal);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void call_handler(int version, int signal, siginfo_t *info, ucontext_t *context, bool own) {
  struct p3_disposition want = wanted[version][signal];
  siginfo_t seen = *info;
  if (signal == SIGCHLD || info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL)
    seen.si_pid = p3_pid_virtual(version, info->si_pid);
  if (want.flags & (int)SA_RESETHAND) {
    wanted[version][signal].handler = SIG_DFL;
    install(version, signal);
  }
  int owner = p3_owner, here = p3_here;
  if (!p3_thread_self())
    p3_enter(version);
  handled[version]++;
  if (p3_lockstep && here == version && !(want.flags & SA_RESTART))
    p3_interrupt(context);
  if (want.flags & SA_SIGINFO)
    ((void (*)(int, siginfo_t *, void *))want.handler)(signal, &seen, context);
  else
    want.handler(signal);
  if (!p3_thread_self() && owner >= 0) {
    p3_enter(owner);
    p3_touch(here);
  }
  if (p3_has_ended(version) || p3_states[version].doomed)
    p3_leave(version, context, own);
}

/* The default action, in the product, that ends the version. */
static void end_version(int version, int signal, bool fault, ucontext_t *context, bool own) {
  if (!p3_on_main_thread()) {
    p3_states[version].doomed = signal;
  } else if (!fault) {
    p3_versions[version]->die(P3_SIGNALED, signal);
  } else if (!is_left_alone(signal) && p3_may_abandon(version)) {
    p3_crash(signal);
  } else {
    sigaction(signal, &originals[signal], NULL); /* and it happens again */
    return;
  }
  /* libc's abort() is called with no lock held or with one that only matters if the heap is broken anyway. */
  p3_leave(version, context, own || signal == SIGABRT);
}

static bool comes_again(int version, int signal, const siginfo_t *info);

static void dispatch(int version, int signal, siginfo_t *info, ucontext_t *context, bool own) {
  bool fault = is_fault(signal) && info->si_code > 0;
  if (p3_has_ended(version))
    return;
  if (p3_signal_is_caught(version, signal))
    call_handler(version, signal, info, context, own);
  else if (p3_signal_is_fatal(signal) && (fault || wanted[version][signal].handler == SIG_DFL))
    end_version(version, signal, fault, context, own);
  if (p3_has_ended(version) && !own && is_interleaved() && comes_again(version, signal, info))
    p3_leave_in_time(context);
}

static void keep(int version, const siginfo_t *info);

/* `version` gets it now, or, if another one's turn it is, when it is its turn. */
static void deliver(int version, int signal, siginfo_t *info, ucontext_t *context, bool own) {
  if (is_interleaved() && p3_on_main_thread() && version != p3_current() && !p3_has_ended(version))
    keep(version, info);
  else
    dispatch(version, signal, info, context, own);
}

/* For the versions that run interleaved with `version`. */
static void spread(int version, int signal, siginfo_t *info, ucontext_t *context) {
  for (int i = 0; i < p3_count; i++) {
    if (i == version || !p3_has_started(i) || p3_has_ended(i) || ignores(i, signal))
      continue;
    if (bits(&masks[i]) & BIT(signal))
      p3_pending_add(i, info);
    else
      deliver(i, signal, info, context, false);
  }
}

/* Whether nobody does anything about it. */
static bool all_die(int signal) {
  for (int i = 0; i < p3_count; i++)
    if (p3_has_started(i) && !p3_has_ended(i) && !is_default_fatal(i, signal))
      return false;
  return true;
}

enum origin { OWN, OF_CHILD, OUTSIDE };

static enum origin origin_of(int signal, const siginfo_t *info, int *version) {
  int whose = P3_NOBODY;
  switch (info->si_code) {
  case SI_USER:
  case SI_QUEUE:
  case SI_TKILL:
    if (info->si_pid == getpid())
      return OWN;
    if (!p3_is_of_family(info->si_pid, &whose))
      return OUTSIDE;
    break;
  case SI_KERNEL:
    return BY_TERMINAL & BIT(signal) ? OUTSIDE : OWN;
  default:
    if (signal != SIGCHLD)
      return OWN;
    whose = p3_child_version(info->si_pid);
  }
  if (whose >= 0)
    *version = whose;
  return OF_CHILD;
}

/* Whether a version that begins anew gets it anew. */
static bool comes_again(int version, int signal, const siginfo_t *info) {
  int whose = version;
  if (origin_of(signal, info, &whose) != OUTSIDE)
    return true;
  /* Its sender is gone or, where signals were merged, not known. */
  return info->si_code <= 0 && p3_has_children(version) &&
         (info->si_pid == 0 || (kill(info->si_pid, 0) != 0 && errno == ESRCH));
}

/* Signals that wait, really blocked, for the main thread to leave core/. */
static uint64_t deferred;

/* The thread is writing a FILE for the version, say, and has not told it yet that it did: a handler would
 * write the same once more. Alone that takes no time, here it does. */
static bool defer(int signal, const siginfo_t *info, ucontext_t *context) {
  bool own = info->si_code <= 0 && info->si_code != SI_TIMER && info->si_pid == getpid();
  if (own || p3_inside == 0 || p3_is_blocked(context) || !p3_on_main_thread())
    return false;
  deferred |= BIT(signal);
  sigaddset(&context->uc_sigmask, signal);
  siginfo_t again = *info;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), signal, &again);
  p3_kick_later();
  return true;
}

void p3_signals_release(void) {
  if (!deferred || p3_inside > 0 || !p3_on_main_thread())
    return;
  sigset_t set = set_of(deferred);
  deferred = 0;
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- signals from children ---- */

/* The kernel keeps one signal of a number at most, though it may have been sent by children of several versions.
 * So the children say for whom they send one before they do. */
static pid_t product;
static uint64_t ahead[P3_MAX_VERSIONS]; /* delivered when another version's came, before or instead of its own */

int p3_signal_send(int version, pid_t real, int signal) {
  p3_enter(version);
  if (p3_only >= 0 && real == product && signal > 0 && signal < 32)
    atomic_fetch_or(&p3_shared->sent[version], BIT(signal));
  return kill(real, signal);
}

/* Whether the version has to get the signal, which is its own or of the same number. */
static bool claim(int version, int signal, bool own) {
  bool was_sent = atomic_fetch_and(&p3_shared->sent[version], ~BIT(signal)) & BIT(signal);
  bool was_ahead = ahead[version] & BIT(signal);
  ahead[version] &= ~BIT(signal);
  if (was_sent && !own)
    ahead[version] |= BIT(signal);
  return was_sent || (own && !was_ahead);
}

/* ---- what is kept ---- */

/* How long the version may own the process before it is taken to wait, and how much processor time passes
 * before it gets the signal wherever it stands: nanoseconds. */
#define TURN 500000l
#define PATIENCE 10000000l

static timer_t turn_timer, patience_timer;
static bool have_timers, turn_runs, patience_runs;
static int64_t patience_end;

static int64_t read_clock(clockid_t id) {
  struct timespec now;
  return clock_gettime(id, &now) == 0 ? now.tv_sec * 1000000000ll + now.tv_nsec : 0;
}

/* The main thread's mask before it waits with another one; and the version that does, which does not come back
 * from there if it ends. */
static sigset_t mask_before;
static volatile int masked = P3_NOBODY;

static bool make_timers(void) {
  if (have_timers)
    return true;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = KICK};
  event._sigev_un._tid = getpid();
  have_timers = timer_create(CLOCK_MONOTONIC, &event, &turn_timer) == 0 &&
                timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &patience_timer) == 0;
  return have_timers;
}

static void start(timer_t timer, long nanoseconds) {
  struct itimerspec once = {{0, 0}, {0, nanoseconds}};
  timer_settime(timer, 0, &once, NULL);
}

static void start_turn(bool on) {
  if (turn_runs == on || !make_timers())
    return;
  turn_runs = on;
  start(turn_timer, on ? TURN : 0);
}

static void start_patience(void) {
  if (patience_runs || !make_timers())
    return;
  patience_runs = true;
  patience_end = read_clock(CLOCK_THREAD_CPUTIME_ID) + PATIENCE;
  start(patience_timer, PATIENCE);
}

static void keep(int version, const siginfo_t *info) {
  p3_pending_add(version, info);
  start_patience();
}

static bool any_pending(void) {
  for (int i = 0; i < p3_count; i++)
    if (p3_pending_count[i])
      return true;
  return false;
}

bool p3_signals_kicked(ucontext_t *context) {
  bool had_reason = turn_runs || patience_runs;
  turn_runs = false;
  if (!any_pending()) {
    patience_runs = false;
    return had_reason;
  }
  int here = p3_here;
  if (p3_inside > 0) {
    start_turn(true);
    return true;
  }
  /* They come when this handler returns, to where it interrupted the version. */
  sigset_t all = set_of(~0ull);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  if (here >= 0 && p3_pending_count[here])
    p3_pending_send(here, ~bits(&context->uc_sigmask));
  if (!patience_runs || read_clock(CLOCK_THREAD_CPUTIME_ID) < patience_end)
    return true;
  patience_runs = false;
  if (!p3_is_blocked(context) && p3_may_leave(context, false)) {
    for (int i = 0; i < p3_count; i++)
      if (i != here && p3_pending_count[i])
        p3_pending_send(i, ~bits(&masks[i]));
  }
  if (any_pending())
    start_patience();
  return true;
}

/* SIGCHLD for those of the version's children that ended without one, since it was merged with another's. */
static void keep_unseen(int version) {
  siginfo_t info;
  if (p3_has_started(version) && !p3_has_ended(version) && p3_child_unseen(version, &info))
    keep(version, &info);
}

/* The version owns the process and is about to wait, or to go on: what it has blocked is pending, for the rest it
 * gets a little time. */
static void take_turn(int version, const sigset_t *mask) {
  if (!p3_pending_count[version])
    return;
  p3_pending_send(version, is_interleaved() ? bits(mask) : ~0ull);
  if (p3_pending_count[version])
    start_turn(true);
}

static bool waits_in_turn(int version) {
  return !p3_in_klee() && is_interleaved() && !p3_thread_self() && !p3_has_ended(version);
}

void p3_signals_poll(int version) {
  if (!waits_in_turn(version))
    return;
  keep_unseen(version);
  if (!p3_pending_count[version])
    return;
  p3_touch(version);
  p3_pending_send(version, ~0ull);
}

void p3_signals_child_waited(int version, const siginfo_t *info) {
  siginfo_t signal = *info;
  signal.si_signo = SIGCHLD;
  if (waits_in_turn(version))
    p3_pending_add(version, &signal);
}

/* Before each try of the call. */
static void send_kept(const struct p3_waiting *waiting) {
  keep_unseen(waiting->version);
  if (!p3_pending_count[waiting->version])
    return;
  sigset_t present;
  if (waiting->is_masked)
    p3_pending_send(waiting->version, ~0ull);
  else if (pthread_sigmask(SIG_SETMASK, NULL, &present) == 0)
    take_turn(waiting->version, &present);
}

void p3_wait_begin(struct p3_waiting *waiting, int version, const struct timespec *timeout,
                   const sigset_t *mask) {
  *waiting = (struct p3_waiting){.timeout = timeout, .mask = mask, .version = version};
  if (p3_in_klee())
    return;
  p3_touch(version);
  p3_signals_release();
  if (mask) {
    waiting->given = p3_signal_waiting_mask(mask);
    waiting->mask = &waiting->given;
  }
  if (!waits_in_turn(version))
    return;
  waiting->can_repeat = true;
  waiting->handled = handled[version];
  /* As long as for ever. */
  waiting->is_timed = timeout && timeout->tv_sec < 1000000000;
  if (waiting->is_timed)
    waiting->end = read_clock(CLOCK_MONOTONIC) + timeout->tv_sec * 1000000000ll + timeout->tv_nsec;
  if (mask) {
    /* What is kept arrives only when the call waits with its mask. */
    sigset_t all = set_of(~0ull);
    all = p3_signal_waiting_mask(&all);
    pthread_sigmask(SIG_SETMASK, &all, &waiting->before);
    waiting->handled = handled[version];
    waiting->is_masked = true;
    mask_before = waiting->before;
    masked = version;
    start_turn(false);
  }
  send_kept(waiting);
}

bool p3_wait_again(struct p3_waiting *waiting, bool failed) {
  int error = errno, version = waiting->version;
  if (!waiting->can_repeat)
    return false;
  bool again = failed && error == EINTR && handled[version] == waiting->handled && !p3_has_ended(version) &&
               !p3_states[version].doomed;
  if (again && waiting->is_timed) {
    int64_t left = waiting->end - read_clock(CLOCK_MONOTONIC);
    left = left > 0 ? left : 0;
    waiting->left = (struct timespec){left / 1000000000, left % 1000000000};
    waiting->timeout = &waiting->left;
  }
  if (!again && waiting->is_masked) {
    masked = P3_NOBODY;
    pthread_sigmask(SIG_SETMASK, &waiting->before, NULL);
  }
  if (again)
    send_kept(waiting);
  else
    p3_signals_poll(version);
  errno = error;
  return again;
}

bool p3_signals_let_through(ucontext_t *context) {
  if (deferred && !p3_may_leave(context, false))
    return false;
  for (int signal = 1; signal < SIGNALS; signal++)
    if (deferred & BIT(signal))
      sigdelset(&context->uc_sigmask, signal);
  deferred = 0;
  return true;
}

volatile bool p3_raising;

static bool is_of_libc(int signal, const siginfo_t *info) {
  return signal == SIGABRT && info->si_code == SI_TKILL && info->si_pid == getpid() && !p3_raising;
}

/* Other children, also of other versions, may have ended, too, whose signals were merged with this one. */
static void handle_child(int version, siginfo_t *info, ucontext_t *context) {
  bool is_new = !p3_is_child_end(info) || p3_child_see(info->si_pid);
  siginfo_t other;
  for (int i = 0; i < p3_count; i++)
    if (i != version && p3_has_started(i) && !p3_has_ended(i) && p3_child_unseen(i, &other))
      deliver(i, SIGCHLD, &other, context, false);
  bool are_more = p3_child_unseen(version, &other);
  if (is_new || are_more)
    deliver(version, SIGCHLD, is_new ? info : &other, context, false);
}

static void handle(int signal, siginfo_t *info, ucontext_t *context) {
  if (signal == KICK && p3_kicked(context))
    return;
  int version = p3_current();
  bool fault = is_fault(signal) && info->si_code > 0;
  if ((fault || is_of_libc(signal, info)) && !is_left_alone(signal)) {
    if (p3_spec_crashed(p3_signal_name(signal)))
      die_for_real(SIGABRT);
    p3_rerun(signal);
  }
  if (signal == KICK && (info->si_code == SI_TIMER || info->si_pid == getpid()) &&
      (version < 0 || !p3_signal_is_caught(version, signal)))
    return; /* it came too late */
  if (version < 0) {
    if (fault)
      sigaction(signal, &originals[signal], NULL);
    else if (p3_signal_is_fatal(signal))
      die_for_real(signal);
    return;
  }
  if (!fault && believed & BIT(signal)) {
    held |= BIT(signal);
    return;
  }
  if (!fault && defer(signal, info, context))
    return;
  if (p3_pending_taken(info, &version)) {
    siginfo_t other;
    for (int i = 0; i < p3_count && signal == SIGCHLD && is_interleaved(); i++)
      if (i == version)
        p3_child_unseen(i, &other); /* merged with this one */
      else
        keep_unseen(i);
    dispatch(version, signal, info, context, false);
    return;
  }
  siginfo_t merged;
  if (is_interleaved() && p3_on_main_thread() && p3_pending_merged(version, signal, &merged)) {
    keep(version, &merged);
    p3_pending_send(version, BIT(signal)); /* comes next */
  }
  if (p3_timer_signal(info, &version) || p3_outside_again(info)) {
    deliver(version, signal, info, context, false);
    return;
  }
  enum origin origin = origin_of(signal, info, &version);
  if (origin == OF_CHILD && signal == SIGCHLD && is_interleaved()) {
    handle_child(version, info, context);
  } else if (origin == OF_CHILD && signal < 32 && is_interleaved()) {
    for (int i = 0; i < p3_count; i++)
      if (i != version && p3_has_started(i) && !p3_has_ended(i) && claim(i, signal, false))
        deliver(i, signal, info, context, false);
    if (claim(version, signal, true))
      deliver(version, signal, info, context, false);
  } else if (origin != OUTSIDE || p3_only >= 0) {
    deliver(version, signal, info, context, origin == OWN && info->si_code <= 0);
  } else if (all_die(signal)) {
    die_for_real(signal);
  } else {
    p3_outside_remember(version, signal, info, p3_is_blocked(context));
    spread(version, signal, info, context);
    dispatch(version, signal, info, context, false);
  }
}

static void on_signal(int signal, siginfo_t *info, void *context) {
  int saved = errno;
  handle(signal, info, context);
  if (masked >= 0 && p3_has_ended(masked) && p3_on_main_thread()) {
    uint64_t before = bits(&mask_before);
    memcpy(&((ucontext_t *)context)->uc_sigmask, &before, sizeof before);
    masked = P3_NOBODY;
  }
  errno = saved;
}

bool p3_signal_taken(int version, siginfo_t *info) {
  int whose = version;
  if (p3_in_klee() || p3_pending_taken(info, &whose))
    return true;
  bool outside = !p3_timer_signal(info, &whose) && !p3_outside_again(info) &&
                 origin_of(info->si_signo, info, &whose) == OUTSIDE && p3_only < 0;
  if (outside)
    p3_outside_remember(version, info->si_signo, info, true);
  for (int i = 0; i < p3_count && is_interleaved(); i++)
    if (i != version && (outside || i == whose) && p3_has_started(i) && !p3_has_ended(i))
      keep(i, info);
  return !is_interleaved() || whose == version;
}

/* ---- versions begin, change hands and end ---- */

void p3_signals_start(void) {
  product = getpid();
  pthread_sigmask(SIG_SETMASK, NULL, &original_mask);
  for (int signal = 1; signal < SIGNALS; signal++)
    if (can_be_caught(signal))
      sigaction(signal, NULL, &originals[signal]);
  for (int i = 0; i < p3_count; i++) {
    masks[i] = original_mask;
    believed_by[i] = bits(&original_mask) & (FAULTS | BIT(KICK));
    for (int signal = 1; signal < SIGNALS; signal++)
      if (originals[signal].sa_handler == SIG_IGN && !(originals[signal].sa_flags & SA_SIGINFO))
        wanted[i][signal].handler = SIG_IGN;
  }
  void *room = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  stack_t present;
  if (room != MAP_FAILED && sigaltstack(NULL, &present) == 0 && present.ss_flags & SS_DISABLE) {
    own_stack = (stack_t){.ss_sp = room, .ss_size = STACK_SIZE};
    sigaltstack(&own_stack, NULL);
  }
  for (int i = 0; i < p3_count; i++)
    stacks[i] = own_stack;
  believed = believed_by[0];
  if (believed) {
    sigset_t open = set_of(believed);
    pthread_sigmask(SIG_UNBLOCK, &open, NULL);
    masks_touched = true;
  }
  for (int signal = 1; signal < SIGNALS; signal++)
    if (can_be_caught(signal) && !is_left_alone(signal))
      install(0, signal);
}

/* Takes what is pending, and blocked, off the kernel's queue. */
static void drain(int from) {
  sigset_t pending;
  if (sigpending(&pending) != 0)
    return;
  for (int signal = 1; signal < SIGNALS; signal++) {
    sigset_t set = set_of(BIT(signal));
    siginfo_t info;
    while (bits(&pending) & BIT(signal) && sigtimedwait(&set, &info, &(struct timespec){0, 0}) > 0) {
      int version = from;
      bool again = p3_pending_taken(&info, &version);
      bool outside = !again && !p3_timer_signal(&info, &version) && !p3_outside_again(&info) &&
                     origin_of(signal, &info, &version) == OUTSIDE;
      bool is_new = again || outside || signal != SIGCHLD || !p3_is_child_end(&info) || p3_child_see(info.si_pid);
      if (!again && !outside && info.si_code <= 0 && signal < 32 && is_interleaved())
        is_new = claim(version, signal, true);
      if (is_new && !p3_has_ended(version))
        p3_pending_add(version, &info);
      if (outside) {
        p3_outside_remember(from, signal, &info, false);
        for (int i = 0; i < p3_count; i++)
          if (i != from && p3_has_started(i) && !p3_has_ended(i))
            p3_pending_add(i, &info);
      }
    }
  }
  /* Those that were merged with others'. */
  siginfo_t info;
  for (int signal = 1; signal < 32 && is_interleaved(); signal++)
    if (bits(&pending) & BIT(signal) && p3_pending_merged(from, signal, &info))
      p3_pending_add(from, &info);
  p3_pending_left(from);
  for (int signal = 1; signal < 32 && is_interleaved(); signal++)
    for (int i = 0; i < p3_count && bits(&pending) & BIT(signal); i++)
      if (p3_has_started(i) && !p3_has_ended(i) && claim(i, signal, false)) {
        info = (siginfo_t){.si_signo = signal, .si_code = SI_USER};
        info.si_uid = getuid();
        p3_pending_add(i, &info);
      }
  for (int i = 0; i < p3_count && bits(&pending) & BIT(SIGCHLD) && is_interleaved(); i++)
    keep_unseen(i);
}

void p3_signals_leave(int from) {
  if (p3_thread_self())
    return;
  if (turn_runs)
    start_turn(false);
  p3_signals_release();
  if (masks_touched) {
    sigset_t all = set_of(~0ull); /* until the other version's is installed */
    pthread_sigmask(SIG_SETMASK, &all, &masks[from]);
    believed_by[from] = believed;
    held_by[from] = held;
    if (bits(&masks[from]))
      drain(from);
    masks[from] = set_of(bits(&masks[from]) & ~deferred);
    deferred = 0;
  }
  if (stacks_touched)
    sigaltstack(NULL, &stacks[from]);
}

/* Whether the kernel's disposition is the same for both versions, whose handlers on_signal calls. */
static bool is_same(int version, int other, int signal) {
  const struct p3_disposition *a = &wanted[version][signal], *b = &wanted[other][signal];
  bool both_caught = p3_signal_is_caught(version, signal) && p3_signal_is_caught(other, signal);
  return (both_caught || a->handler == b->handler) && a->flags == b->flags && bits(&a->mask) == bits(&b->mask);
}

void p3_signals_enter(int from, int to) {
  for (uint64_t left = touched; left; left &= left - 1) {
    int signal = __builtin_ctzll(left) + 1;
    if (from < 0 || p3_has_ended(from) || !is_same(from, to, signal))
      install(to, signal);
  }
  if (p3_thread_self())
    return;
  if (stacks_touched) {
    stacks[to].ss_flags &= ~SS_ONSTACK;
    sigaltstack(&stacks[to], NULL);
  }
  if (masks_touched) {
    believed = believed_by[to];
    held = held_by[to];
    sigset_t real = p3_signal_waiting_mask(&masks[to]);
    pthread_sigmask(SIG_SETMASK, &real, NULL);
  }
  take_turn(to, &masks[to]);
}

void p3_signals_ended(int version) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  if (bits(&mask))
    drain(version);
  p3_pending_drop(version);
  mask = set_of(deferred);
  believed = held = deferred = 0;
  pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
}

void p3_signals_stop(void) {
  signal(KICK, SIG_IGN); /* one may be on its way */
  for (int signal = 1; signal < SIGNALS; signal++)
    if (can_be_caught(signal) && signal != KICK)
      sigaction(signal, &originals[signal], NULL);
  pthread_sigmask(SIG_SETMASK, &original_mask, NULL);
}

static void do_nothing(int signal) { (void)signal; }

void p3_signals_rerun(void) {
  struct sigaction ignore = {.sa_handler = SIG_IGN}, nothing = {.sa_handler = do_nothing};
  for (int signal = 1; signal < SIGNALS; signal++)
    if (can_be_caught(signal)) {
      bool ignored = originals[signal].sa_handler == SIG_IGN && !(originals[signal].sa_flags & SA_SIGINFO);
      sigaction(signal, &ignore, NULL); /* forgets pending ones */
      if (!ignored) /* a timer may still send one; the exec makes it the default */
        sigaction(signal, &nothing, NULL);
    }
  pthread_sigmask(SIG_SETMASK, &original_mask, NULL);
}

/* What else would end the child still comes through on_signal, which really ends it. */
void p3_signals_forked(int version) {
  held = deferred = 0;
  p3_pending_forked();
  have_timers = turn_runs = patience_runs = false;
  for (int signal = 1; signal < SIGNALS; signal++)
    if ((is_fault(signal) && !p3_signal_is_caught(version, signal)) || touched & BIT(signal))
      install(version, signal);
}

void p3_signals_exec(int version, bool on) {
  sigset_t set = set_of(believed);
  if (on && wanted[version][KICK].handler == SIG_IGN)
    signal(KICK, SIG_IGN);
  else if (!on)
    install(version, KICK);
  pthread_sigmask(on ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}
