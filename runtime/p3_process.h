/* Processes, threads, signals and time: what version/ code asks core/ for, and what core/main.c and
 * core/switch.c call when versions begin, change hands and end. Every function may be called in KLEE. */
#ifndef P3_PROCESS_H
#define P3_PROCESS_H

#include "p3_runtime.h"
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

/* ---- core/answers.c: the k-th question gets the same answer in every version ---- */

enum p3_question {
  P3_ASK_TIME,
  P3_ASK_TIMEOFDAY,
  P3_ASK_TIMEZONE,
  P3_ASK_FTIME,
  P3_ASK_TIMESPEC,
  P3_ASK_CPU_CLOCK,
  P3_ASK_TIMES,
  P3_ASK_RUSAGE_SELF,
  P3_ASK_RUSAGE_CHILDREN,
  P3_ASK_RUSAGE_THREAD,
  P3_ASK_RANDOM,  /* getrandom, getentropy */
  P3_ASK_ARC4,    /* arc4random and its family */
  P3_ASK_FORK,    /* process number of the next child */
  P3_ASK_THREAD,  /* kernel's number of a thread */
  P3_ASK_PARENT,  /* getppid */
  P3_ASK_GROUP,   /* getpgrp, getpgid(0) */
  P3_ASK_SESSION, /* getsid(0) */
  P3_ASK_SYSINFO,
  P3_ASK_LOAD,
  P3_ASK_CPU_NUMBER,
  P3_ASK_CLOCK, /* + clock id modulo 32 */
  P3_QUESTIONS = P3_ASK_CLOCK + 32,
};

/* How far one thread of one version has come with one question. Zero at first. */
struct p3_cursor {
  uint64_t next;        /* number of the next question */
  void *stream;         /* its answers in the shared file */
  char *chunk;          /* mapped part of them */
  uint64_t chunk_first; /* number of the chunk's first answer */
  uint32_t chunk_number, chunk_answers;
  volatile bool busy; /* so that a question asked in a signal handler leaves it alone */
};

/* Whose questions they are: the process (virtual number) and thread (0: main, then as created).
 */
struct p3_asker {
  uint32_t process;
  uint32_t thread;
};

/* The answer to the cursor's next question, if a version already got one; the cursor moves on. */
bool p3_recall(struct p3_cursor *cursor, struct p3_asker asker, enum p3_question question, void *answer,
               size_t size);
/* Makes `answer` the answer to the cursor's next question and moves on; if another version was quicker,
 * `answer` becomes its. */
void p3_record(struct p3_cursor *cursor, struct p3_asker asker, enum p3_question question, void *answer,
               size_t size);
/* Before the first fork: answers given later are shared with the child. */
void p3_answers_open(void);

/* ---- core/clock.c: a version that runs after another one lives in the same time as that one ---- */

/* `version` begins to run. */
void p3_clock_started(int version);
/* How much later the version began than the first one, in nanoseconds, 0 in KLEE. Its present is the real
 * time minus this; a deadline that it computed is to be met that much later. */
int64_t p3_lag(int version);
/* The same, for a question that nobody has asked yet. To be read before the clock. */
int64_t p3_lag_now(int version);
/* The version got an answer from the system. */
void p3_clock_answered(int version, enum p3_question question);
/* What others had used when it began: RUSAGE_SELF or RUSAGE_CHILDREN. */
struct rusage p3_used_before(int version, int who);
/* The same as a CPU clock's reading. */
int64_t p3_cpu_before(int version);
int64_t p3_cpu_before_now(int version);

/* ---- core/stop.c: the threads of versions, besides the one that runs main ---- */

/* What core/switch.c has installed for a thread. */
struct p3_whereabouts {
  unsigned cwd_id;
  mode_t umask;
};

struct p3_thread {
  struct p3_thread *next;
  int version;
  struct p3_whereabouts place;
  void *(*run)(struct p3_thread *thread);
  void (*over)(
      struct p3_thread *thread); /* the thread ends; called after the program's own clean-up handlers */
  pid_t tid, virtual_tid;        /* virtual: 0 until somebody asks */
  stack_t stack;                 /* for handlers */
  sigset_t mask;                 /* with which the program's own code begins */
  int rounds;
  volatile enum { P3_THREAD_STARTING, P3_THREAD_RUNNING, P3_THREAD_PARKED } state;
};
/* pthread_create; `thread` is from malloc and freed at its end, or at once if it could not be created. */
int p3_thread_create(pthread_t *id, const pthread_attr_t *attributes, struct p3_thread *thread);
/* Null on the main thread. */
struct p3_thread *p3_thread_self(void);
int p3_thread_count(int version);
/* The version has ended on the calling thread, and its frames cannot return: code that is not the product's, or another
 * stack, lies between them and those of main. */
_Noreturn void p3_abandon(int version);
/* A version is about to return a second time from a call in a function that may be woven. */
void p3_returns_twice(void);
/* Another thread cancels the main one: `cancel` is called there as soon as it waits for something. */
void p3_cancel_main(int version, void (*cancel)(void));

/* ---- core/signals.c: what each version does about signals ---- */

struct p3_disposition {
  void (*handler)(int); /* SIG_DFL, SIG_IGN or a function, of three parameters if flags say SA_SIGINFO */
  sigset_t mask;
  int flags;
};
/* Either pointer may be null. -1 and EINVAL if there is no such signal or it cannot be caught. */
int p3_signal_set(int version, int signal, const struct p3_disposition *new, struct p3_disposition *old);
/* As pthread_sigmask, but keeps open what the runtime needs. Returns an error number. */
int p3_signal_mask(int version, int how, const sigset_t *set, sigset_t *old);
/* A mask for a system call that waits with it. */
sigset_t p3_signal_waiting_mask(const sigset_t *mask);
/* kill(2), with the kernel's number. */
int p3_signal_send(int version, pid_t real, int signal);
/* What is kept for the version, which waited: at the latest now. */
void p3_signals_poll(int version);
/* Around a system call that is never restarted after a signal, with its time-out, null for none; `mask` if it
 * waits with another one. In lock-step a signal may be another version's business:
 *   struct p3_waiting waiting;
 *   p3_wait_begin(&waiting, version, timeout, mask);
 *   do
 *     result = ...(waiting.timeout, waiting.mask);
 *   while (p3_wait_again(&waiting, result < 0));
 */
struct p3_waiting {
  const struct timespec *timeout;
  const sigset_t *mask;
  int version;
  bool can_repeat, is_masked, is_timed;
  uint32_t handled;
  int64_t end;
  struct timespec left;
  sigset_t given, before;
};
void p3_wait_begin(struct p3_waiting *waiting, int version, const struct timespec *timeout,
                   const sigset_t *mask);
/* Keeps errno. */
bool p3_wait_again(struct p3_waiting *waiting, bool failed);
/* sigaltstack(2) of the calling thread. */
int p3_signal_stack(int version, const stack_t *new, stack_t *old);
int p3_signal_pending(sigset_t *set);
/* The version took a signal off the queue by itself (sigwait); `info` becomes what it may see. False: it was
 * not for the version. */
bool p3_signal_taken(int version, siginfo_t *info);
/* The signal ends a process that does nothing about it. */
bool p3_signal_is_fatal(int signal);
/* A version raises SIGABRT itself, or the product does; else that signal comes from inside libc. */
extern volatile bool p3_raising;
/* In a child: on, about to exec, gives the program what it may inherit; off, after that failed, takes it
 * back. */
void p3_signals_exec(int version, bool on);

/* ---- core/timers.c ---- */

struct p3_timer {
  bool used;
  bool is_alarm; /* of alarm and setitimer(ITIMER_REAL) */
  int version;
  timer_t id;
  union sigval value; /* as the version gave it */
  void (*notify)(union sigval);
};
/* Null: too many. Its address is what the timer's signal must carry. */
struct p3_timer *p3_timer_new(int version);
void p3_timer_free(struct p3_timer *timer);
struct p3_timer *p3_timer_find(int version, timer_t id);

/* ---- core/pids.c: a version's numbers of processes and the kernel's; unknown ones are the same ---- */
pid_t p3_pid_real(int version, pid_t virtual);
pid_t p3_pid_virtual(int version, pid_t real);
void p3_pid_pair(int version, pid_t virtual, pid_t real);

/* ---- core/children.c; numbers are the kernel's ---- */

/* As fork(2). In the child only `version` goes on. */
pid_t p3_fork(int version);
/* The same, and the parent stands still until the child has begun another program or ended. */
pid_t p3_vfork(int version);
/* As the kernel's waitid, for the version's children. */
int p3_wait(int version, idtype_t type, id_t id, siginfo_t *info, int options, struct rusage *usage);

/* A version made the product's process the leader of a session. */
extern bool p3_session_led;

/* ---- core/limits.c: as getrlimit and setrlimit, getpriority and setpriority of this process ---- */
int p3_limit_get(int version, int resource, struct rlimit *limit);
int p3_limit_set(int version, int resource, const struct rlimit *limit);
int p3_priority_get(int version);
int p3_priority_set(int version, int priority);

/* ---- core/pump.c ---- */

/* In a child about to exec, before p3_fd_arrange: a descriptor on a standard input that can be read only once
 * is replaced by a pipe, through which the program gets what the version has not read yet. */
void p3_pump_attach(int version);

/* ---- core/relay.c ---- */

/* In a child about to exec, before p3_fd_arrange: where the product's output is a pipe, the program gets one, too,
 * instead of the capture; where output and error are one, they are for the program, too. */
void p3_relay_attach(int version);

/* ---- what core/main.c, core/switch.c and version/run.c call; all do nothing in KLEE ---- */

/* core/main.c, once, when descriptors are ready and before the first version begins. */
void p3_process_start(void);
/* core/main.c, right before a version's `run`. */
void p3_process_started(int version);
/* p3v_die, when the end is recorded and p3v_alive cleared, not in a forked child: stops the version's other
 * threads. On a thread that is not the one of main it makes that one leave the version's stack and never
 * returns. */
void p3_process_dying(int version);
/* core/main.c, when the version is off the stack, however it ended. */
void p3_process_ended(int version);
/* core/main.c, when all versions are over: signals mean what they mean to any program again. */
void p3_process_stop(void);
/* p3_touch: `from` is about to lose the process, `to` has just got it. Either may be -1. */
void p3_process_leave(int from);
void p3_process_enter(int from, int to);
/* p3_forked, in the child. */
void p3_process_forked(int version);

/* ---- core/exceptions.c: C++ programs that end by an exception ---- */

/* From now on std::terminate calls `own` for the version. Returns what it would have called without the product; null:
 * there is no C++ library. */
void (*p3_terminated_by(int version, void (*own)(void)))(void);

#endif
