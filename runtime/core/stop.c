/* Making threads leave a version that has ended.
 *
 * A version ends cooperatively: its frames return one after the other (terminate pass). That is not enough
 * when the version's main thread runs in a loop without calls or waits in the kernel while a signal handler
 * or another thread ended the version, or when threads are left over. Those are kicked: a signal makes the
 * main thread jump to core/main.c and all others wait for ever, since the process goes on with other versions
 * that share libc, its locks and its heap. So both are done only where the thread certainly holds no lock: in
 * the product's own code or in a system call that waits. Elsewhere it is let go and kicked again a little
 * later.
 *
 * In lock-step the stack cannot be left while another version goes on. If a signal has ended a version and no
 * call follows that would make its frames return, the product starts itself again (rerun.c). */
#include "process.h"
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 100 /* kicks, at 1 ms */
#define STACK_SIZE (64 << 10)

volatile int p3_on_stack = P3_NOBODY;
static _Thread_local struct p3_thread *self;

static struct p3_thread *threads;

/* The thread that is ending the version. */
static struct p3_thread *volatile ender[P3_MAX_VERSIONS];
static volatile bool impatient;

/* What the main thread does when it is cancelled. */
static void (*volatile cancellation)(void);

/* The product's own code; empty if libc is linked into it. */
static uintptr_t text_from, text_to;

static void pause_a_little(void) {
  struct timespec wait = {0, 1000000};
  nanosleep(&wait, NULL);
}

static int find_text(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  (void)data;
  uintptr_t here = (uintptr_t)&find_text, from = 0, to = 0;
  bool dynamic = false;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_INTERP)
      dynamic = true;
    if (part->p_type == PT_LOAD && here >= start && here < start + part->p_memsz) {
      from = start;
      to = start + part->p_memsz;
    }
  }
  if (from && dynamic) {
    text_from = from;
    text_to = to;
  }
  return from != 0;
}

void p3_stop_start(void) { dl_iterate_phdr(find_text, NULL); }

/* The only version that has not ended; -1: there are more, or none. */
static int last_one(void) {
  int last = P3_NOBODY;
  for (int i = 0; i < p3_count; i++)
    if (!p3_has_ended(i)) {
      if (last >= 0)
        return P3_NOBODY;
      last = i;
    }
  return last;
}

int p3_current(void) {
  if (self)
    return self->version;
  if (p3_on_stack < 0)
    return P3_NOBODY;
  int last = p3_only >= 0 ? p3_only : p3_lockstep ? last_one() : P3_NOBODY;
  return last >= 0 ? last : p3_here;
}

bool p3_on_main_thread(void) { return !self && syscall(SYS_gettid) == getpid(); }

/* Calls in which a thread may wait long, and holds no lock that others need. */
static bool waits(long number) {
  static const short calls[] = {
      SYS_read,
      SYS_readv,
      SYS_pread64,
      SYS_write,
      SYS_writev,
      SYS_poll,
      SYS_ppoll,
      SYS_select,
      SYS_pselect6,
      SYS_epoll_wait,
      SYS_epoll_pwait,
      SYS_pause,
      SYS_nanosleep,
      SYS_clock_nanosleep,
      SYS_rt_sigsuspend,
      SYS_rt_sigtimedwait,
      SYS_futex,
      SYS_wait4,
      SYS_waitid,
      SYS_accept,
      SYS_accept4,
      SYS_connect,
      SYS_recvfrom,
      SYS_recvmsg,
      SYS_sendto,
      SYS_sendmsg,
      SYS_flock,
      SYS_fcntl,
      SYS_msgrcv,
      SYS_msgsnd,
      SYS_semop,
      SYS_semtimedop,
      SYS_mq_timedreceive,
      SYS_mq_timedsend,
      SYS_io_getevents,
      SYS_sched_yield,
      SYS_open,
      SYS_openat,
      SYS_restart_syscall,
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (calls[i] == number)
      return true;
  return false;
}

/* The machine code of a system call. */
static bool is_system_call(uintptr_t address) {
  const unsigned char *code = (const unsigned char *)address;
  return code[0] == 0x0f && code[1] == 0x05;
}

static uintptr_t program_counter(const ucontext_t *context) {
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

/* The kernel has prepared it either to fail with EINTR or to be made again. */
bool p3_is_blocked(const ucontext_t *context) {
  uintptr_t at = program_counter(context);
  long result = context->uc_mcontext.gregs[REG_RAX];
  return (result == -EINTR && is_system_call(at - 2)) || (is_system_call(at) && waits(result));
}

/* Before the system call is as good as in it. */
void p3_interrupt(ucontext_t *context) {
  uintptr_t at = program_counter(context);
  if (!is_system_call(at) || !waits((long)context->uc_mcontext.gregs[REG_RAX]))
    return;
  context->uc_mcontext.gregs[REG_RIP] += 2;
  context->uc_mcontext.gregs[REG_RAX] = -EINTR;
}

bool p3_may_leave(const ucontext_t *context, bool own) {
  uintptr_t at = program_counter(context);
  if (p3_inside > 0)
    return impatient && p3_is_blocked(context);
  if (at >= text_from && at < text_to)
    return true;
  return p3_is_blocked(context) || (own && is_system_call(at - 2));
}

/* ---- the main thread ---- */

/* A timer that kicks the main thread every millisecond. */
static int timer = -1;
static bool timer_runs;

static void set_timer(long nanoseconds) {
  struct itimerspec every = {{0, nanoseconds}, {0, nanoseconds}};
  if (timer_runs == (nanoseconds > 0))
    return;
  timer_runs = nanoseconds > 0;
  if (timer < 0 && nanoseconds) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = KICK};
    event._sigev_un._tid = getpid();
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0)
      timer = -1;
  }
  if (timer >= 0)
    syscall(SYS_timer_settime, timer, 0, &every, NULL);
}

void p3_kick_later(void) { set_timer(1000000); }

/* The version's thread does nothing any more that the version could notice. */
static void hear_nothing(void) {
  p3_input_unlock();
  p3_wait_leave();
  sigset_t all;
  sigfillset(&all);
  if (self)
    self->state = P3_THREAD_PARKED;
  /* libc's pthread_sigmask keeps its own two signals open: setuid in the process must not wait for us. */
  pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static _Noreturn void park(void) {
  for (;;) {
    hear_nothing();
    pause();
  }
}

/* Whether the version's main is on the main thread's stack, alone or together with the others'. */
static bool is_on_stack(int version) { return p3_lockstep ? p3_on_stack >= 0 : p3_on_stack == version; }

/* Nothing on the stack is needed any more. */
static bool all_have_ended(void) {
  if (p3_on_stack < 0)
    return false;
  for (int i = 0; i < p3_count; i++)
    if (is_on_stack(i) && !p3_has_ended(i))
      return false;
  return true;
}

bool p3_may_abandon(int version) {
  for (int i = 0; i < p3_count; i++)
    if (i != version && is_on_stack(i) && !p3_has_ended(i))
      return false;
  return p3_contained();
}

static void kick_main(int version) {
  struct p3_guard guard;
  p3_lock(&guard);
  if (is_on_stack(version))
    syscall(SYS_tgkill, getpid(), getpid(), KICK);
  p3_unlock(&guard);
}

void p3_cancel_main(int version, void (*cancel)(void)) {
  cancellation = cancel;
  for (int tries = 0; cancellation && is_on_stack(version) && tries < 10 * PATIENCE; tries++) {
    kick_main(version);
    pause_a_little();
  }
}

/* What the main thread does, as others see it: no signal may disturb it, since a version that goes on would
 * notice. */
struct watch {
  char last[256]; /* the latest system call in which it waited, with its place in the program */
  int seen, waiting;
};

/* This thread looks on: it is not to be parked in the middle of that. */
static _Thread_local bool is_watching;

#define LONG_WAIT 200 /* looks, at 1 ms */
#define LONG_RUN 2000

/* The main thread has not got on for long: it waits in one and the same call, or it runs and waits nowhere
 * else. (It also says so where nothing can be seen.) */
static bool has_stalled(struct watch *watch) {
  char path[64], text[sizeof watch->last];
  p3_format(path, sizeof path, "/proc/self/task/%d/syscall", (int)getpid());
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0)
    close(fd);
  text[got > 0 ? got : 0] = 0;
  bool waits_now = text[0] >= '0' && text[0] <= '9';
  if (waits_now && strcmp(text, watch->last) != 0) {
    strcpy(watch->last, text);
    watch->seen = watch->waiting = 0;
  }
  watch->waiting += waits_now;
  return ++watch->seen > (watch->waiting + 1 >= watch->seen ? LONG_WAIT : LONG_RUN);
}

/* On a thread of the version that is not its main thread. In lock-step with versions that go on, the main
 * thread may be in a call or a loop that only this version would have ended. Its frames cannot be taken off
 * the stack then. */
static _Noreturn void make_main_leave(int version) {
  struct watch watch = {.seen = 0};
  is_watching = true;
  while (is_on_stack(version)) {
    if (!p3_has_ended(version) || all_have_ended()) {
      kick_main(version);
    } else {
      hear_nothing();
      if (has_stalled(&watch)) {
        p3_rerun(P3_RERUN_STALLED);
        break;
      }
    }
    pause_a_little();
  }
  park();
}

void p3_abandon(int version) {
  if (self)
    park();
  if (!p3_contained() && !p3_on_main_thread()) /* a thread of a library */
    make_main_leave(version);
  p3_rerun(P3_RERUN_ABANDONED);
  if (!p3_may_abandon(version))
    p3_fatal("version %d has ended where its stack cannot be left, in lock-step with others", version + 1);
  p3_crash(0);
}

void p3_returns_twice(void) { p3_rerun(P3_RERUN_TWICE); }

void p3_leave(int version, const ucontext_t *context, bool own) {
  if (self) {
    if (!p3_has_ended(version))
      make_main_leave(version);
    if (ender[version] != self && p3_may_leave(context, own))
      park();
    return;
  }
  if (!p3_on_main_thread()) /* a thread of a library */
    kick_main(version);
  if (!p3_contained() || !all_have_ended())
    return;
  if (p3_may_leave(context, own))
    p3_crash(0);
  p3_kick_later();
}

/* ---- a version that does not leave ---- */

/* Processor time of the main thread, so that waiting does not count: how long it may do nothing for a version that
 * goes on. LONG_GRACE where it is likely that it gets on without a restart, which costs more than time. */
#define SHORT_GRACE 500000000ll
#define LONG_GRACE 5000000000ll
#define RETRY 10000000ll

volatile bool p3_sign_missing;
static int grace_timer = -1;
static bool grace_runs;
static int64_t grace_end;

static int64_t processor_time(void) {
  struct timespec now;
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0 ? now.tv_sec * 1000000000ll + now.tv_nsec : 0;
}

static void set_grace(int64_t nanoseconds) {
  struct itimerspec once = {{0, 0}, {nanoseconds / 1000000000, nanoseconds % 1000000000}};
  if (grace_timer < 0 && nanoseconds) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = KICK};
    event._sigev_un._tid = getpid();
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &grace_timer) != 0)
      grace_timer = -1;
  }
  grace_runs = grace_timer >= 0 && nanoseconds > 0;
  grace_end = processor_time() + nanoseconds;
  if (grace_timer >= 0)
    syscall(SYS_timer_settime, grace_timer, 0, &once, NULL);
}

/* In a call of the runtime, most likely, behind which a version that has ended leaves by itself. */
static bool is_in_call(const ucontext_t *context) {
  return p3_inside > 0 || p3_is_blocked(context) || is_system_call(program_counter(context) - 2);
}

void p3_leave_in_time(const ucontext_t *context) {
  if (grace_runs || !p3_rerun_is_possible() || !p3_on_main_thread() || p3_is_blocked(context))
    return;
  p3_sign_missing = true;
  set_grace(is_in_call(context) ? LONG_GRACE : SHORT_GRACE);
}

/* Other versions' calls do not prove that it has left: it may have ended where another one was running, and its own
 * loop come later. So this goes on. False: it is not time to look. */
static bool look_for_sign(const ucontext_t *context) {
  if (!grace_runs || processor_time() < grace_end)
    return false;
  if (!p3_sign_missing) {
    p3_sign_missing = true;
    set_grace(LONG_GRACE);
  } else if (is_in_call(context)) {
    set_grace(RETRY);
  } else {
    grace_runs = p3_sign_missing = false;
    p3_rerun(P3_RERUN_BUSY);
  }
  return true;
}

/* Another thread of the version got a deadly signal. */
static void end_doomed(void) {
  for (int i = 0; i < p3_count; i++)
    if (is_on_stack(i) && !p3_has_ended(i) && p3_states[i].doomed)
      p3_versions[i]->die(P3_SIGNALED, p3_states[i].doomed);
}

static void be_cancelled(const ucontext_t *context) {
  void (*cancel)(void) = cancellation;
  cancellation = NULL;
  /* It may leave this handler by a jump to a clean-up handler. */
  sigset_t kick;
  sigemptyset(&kick);
  sigaddset(&kick, KICK);
  pthread_sigmask(SIG_UNBLOCK, &kick, NULL);
  cancel();
  p3_leave(p3_here, context, true);
}

/* The thread that stops all others; and how many it has stopped. */
static _Atomic pid_t stopper;
static _Atomic int stopped;

void p3_stop_here(void) {
  pid_t by = atomic_load(&stopper);
  if (!by || by == (pid_t)syscall(SYS_gettid))
    return;
  atomic_fetch_add(&stopped, 1);
  park();
}

void p3_stop_others(void) {
  pid_t me = (pid_t)syscall(SYS_gettid);
  int expected = 0;
  atomic_store(&stopper, me);
  struct p3_guard guard;
  p3_lock(&guard);
  if (me != getpid()) {
    syscall(SYS_tgkill, getpid(), getpid(), KICK);
    expected++;
  }
  for (struct p3_thread *thread = threads; thread; thread = thread->next)
    if (thread->tid != me && thread->state == P3_THREAD_RUNNING) {
      syscall(SYS_tgkill, getpid(), thread->tid, KICK);
      expected++;
    }
  p3_unlock(&guard);
  for (int tries = 0; atomic_load(&stopped) < expected && tries < PATIENCE; tries++)
    pause_a_little();
}

bool p3_kicked(ucontext_t *context) {
  p3_stop_here();
  if (self) {
    if (!p3_has_ended(self->version) || ender[self->version] == self)
      return false;
    if (!is_watching && p3_may_leave(context, false))
      park();
    return true;
  }
  if (p3_on_stack < 0)
    return false;
  if (cancellation) {
    p3_kick_later(); /* the kick may have been for a signal, too */
    if (p3_is_blocked(context) && p3_inside == 0)
      be_cancelled(context);
    return true;
  }
  end_doomed();
  if (all_have_ended()) {
    p3_leave(p3_here, context, false);
    return true;
  }
  bool had_reason = timer_runs;
  had_reason |= look_for_sign(context);
  had_reason |= p3_signals_kicked(context);
  if (p3_signals_let_through(context))
    set_timer(0);
  return had_reason;
}

/* ---- the others ---- */

static void add(struct p3_thread *thread) {
  struct p3_guard guard;
  p3_signals_release();
  p3_thread_prepare(thread->version);
  p3_lock(&guard);
  thread->state = P3_THREAD_STARTING;
  thread->next = threads;
  threads = thread;
  p3_unlock(&guard);
}

static void remove_thread(struct p3_thread *thread) {
  struct p3_guard guard;
  p3_lock(&guard);
  for (struct p3_thread **link = &threads; *link; link = &(*link)->next)
    if (*link == thread) {
      *link = thread->next;
      break;
    }
  p3_unlock(&guard);
}

/* Threads end in three ways: by returning, by pthread_exit and by cancellation. A thread-specific value sees
 * them all. Its destructor puts itself off until the program's own destructors have run. */
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
#define ROUNDS 3 /* less than PTHREAD_DESTRUCTOR_ITERATIONS */

static void thread_over(void *argument) {
  struct p3_thread *thread = argument;
  if (thread->rounds++ == 0)
    thread->over(thread);
  if (thread->rounds < ROUNDS) {
    pthread_setspecific(key, thread);
    return;
  }
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  stack_t none = {.ss_flags = SS_DISABLE};
  sigaltstack(&none, NULL);
  if (thread->stack.ss_sp)
    munmap(thread->stack.ss_sp, thread->stack.ss_size);
  remove_thread(thread);
  self = NULL;
  free(thread);
}

static void make_key(void) { pthread_key_create(&key, thread_over); }

/* Begins with all signals blocked: what a handler touches must be this thread's, not what it still shares with the
 * main thread. */
static void *thread_main(void *argument) {
  struct p3_thread *thread = argument;
  self = thread;
  thread->tid = (pid_t)syscall(SYS_gettid);
  p3_thread_place(thread);
  thread->state = P3_THREAD_RUNNING; /* from now on it is kicked; so it looks afterwards */
  p3_stop_here();
  if (p3_has_ended(thread->version))
    park();
  pthread_once(&key_once, make_key);
  pthread_setspecific(key, thread);
  void *room = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (room != MAP_FAILED) {
    thread->stack = (stack_t){.ss_sp = room, .ss_size = STACK_SIZE};
    sigaltstack(&thread->stack, NULL);
  }
  pthread_sigmask(SIG_SETMASK, &thread->mask, NULL);
  return thread->run(thread);
}

int p3_thread_create(pthread_t *id, const pthread_attr_t *attributes, struct p3_thread *thread) {
  sigset_t all, before, asked;
  add(thread);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread->mask = attributes && pthread_attr_getsigmask_np(attributes, &asked) == 0 ? asked : before;
  sigdelset(&thread->mask, KICK);
  int error = pthread_create(id, attributes, thread_main, thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error) {
    remove_thread(thread);
    free(thread);
  }
  return error;
}

struct p3_thread *p3_thread_self(void) { return self; }

bool p3_has_threads(void) { return threads != NULL; }

int p3_thread_count(int version) {
  int count = 0;
  struct p3_guard guard;
  p3_lock(&guard);
  for (struct p3_thread *thread = threads; thread; thread = thread->next)
    count += thread->version == version;
  p3_unlock(&guard);
  return count;
}

/* Kicks the version's threads; the number that still run. */
static int kick_threads(int version) {
  int running = 0;
  struct p3_guard guard;
  p3_lock(&guard);
  for (struct p3_thread *thread = threads; thread; thread = thread->next) {
    if (thread->version != version || thread == self || thread->state == P3_THREAD_PARKED)
      continue;
    if (thread->state == P3_THREAD_RUNNING)
      syscall(SYS_tgkill, getpid(), thread->tid, KICK);
    running++;
  }
  p3_unlock(&guard);
  return running;
}

static void stop_threads(int version) {
  for (int tries = 0; tries < 2 * PATIENCE && kick_threads(version); tries++) {
    impatient = tries > PATIENCE;
    pause_a_little();
  }
  impatient = false;
}

void p3_process_dying(int version) {
  if (p3_in_klee() || p3_only >= 0)
    return;
  if (self) {
    struct p3_guard guard;
    p3_lock(&guard);
    bool first = !ender[version];
    if (first)
      ender[version] = self;
    p3_unlock(&guard);
    if (first)
      stop_threads(version);
    make_main_leave(version);
  }
  if (threads)
    stop_threads(version);
}

void p3_process_started(int version) {
  if (p3_in_klee())
    return;
  p3_on_stack = version;
  p3_clock_started(version);
  p3_outside_started(version);
  p3_limits_started(version);
}

void p3_process_ended(int version) {
  if (p3_in_klee())
    return;
  struct p3_guard guard;
  p3_lock(&guard);
  p3_on_stack = P3_NOBODY;
  p3_unlock(&guard);
  set_timer(0);
  if (grace_runs)
    set_grace(0);
  p3_sign_missing = false;
  cancellation = NULL;
  p3_outside_ended(version);
  if (threads)
    stop_threads(version);
  p3_timers_ended(version);
  p3_signals_ended(version);
  p3_wait_ended(version);
}

void p3_stop_forked(void) {
  timer = grace_timer = -1;
  timer_runs = grace_runs = p3_sign_missing = false;
  self = NULL;
  threads = NULL;
}
