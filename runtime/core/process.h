/* What the process files of core/ (signals, stop, outside, children) share among themselves. */
#ifndef P3_CORE_PROCESS_H
#define P3_CORE_PROCESS_H

#include "core.h"
#include "p3_process.h"
#include <signal.h>
#include <ucontext.h>

/* Never used by programs and by libc: makes a thread look whether it has to leave a version's stack. */
#define KICK SIGSTKFLT

#define BIT(signal) (1ull << ((signal)-1))

/* ---- stop.c ---- */

/* The version whose main is on the stack of the main thread; -1: none. */
extern volatile int p3_on_stack;
static inline bool p3_has_ended(int version) { return p3_states[version].end != P3_RUNNING; }
/* The version that the calling thread works for; -1: none. */
int p3_current(void);
bool p3_on_main_thread(void);
/* Any version has threads other than its main thread. */
bool p3_has_threads(void);
/* Whether the interrupted code holds no lock of libc or core/. own: the version sent the signal itself, so it
 * is in the system call that did it. */
bool p3_may_leave(const ucontext_t *context, bool own);
/* Whether it waits in a system call. */
bool p3_is_blocked(const ucontext_t *context);
/* Makes the system call that it waits in fail with EINTR, if the kernel would make it again. */
void p3_interrupt(ucontext_t *context);
/* Whether the version's stack is needed by nobody else, and can be left. */
bool p3_may_abandon(int version);
/* In a handler: the thread's version has ended or is doomed. Leaves its stack, or arranges that this is tried
 * again soon and returns. */
void p3_leave(int version, const ucontext_t *context, bool own);
/* In a handler: a signal has ended the version, and would again in a second run. If others go on in lock-step and the
 * main thread does nothing for them any more, there will be one. */
void p3_leave_in_time(const ucontext_t *context);
/* The main thread has done nothing yet for a version that goes on: p3_signed says that it has. */
extern volatile bool p3_sign_missing;
static inline void p3_signed(int version) {
  if (p3_sign_missing && !p3_thread_self() && !p3_has_ended(version))
    p3_sign_missing = false;
}
/* In a handler for KICK: false if there was no reason for it. */
bool p3_kicked(ucontext_t *context);
/* Kicks the main thread every millisecond until nothing is left to do there. */
void p3_kick_later(void);
void p3_stop_start(void);
/* No other thread does anything any more, as far as that can be had within 100 ms. */
void p3_stop_others(void);
/* Stops this one if another has done that. */
void p3_stop_here(void);
void p3_stop_forked(void);

/* ---- switch.c: threads of versions in lock-step have directories and umasks of their own ---- */

/* Before the version creates a thread. */
void p3_thread_prepare(int version);
/* The thread begins. */
void p3_thread_place(struct p3_thread *thread);

/* ---- signals.c ---- */
void p3_signals_start(void);
/* The version waited for a child before SIGCHLD was seen for it: alone that comes first. */
void p3_signals_child_waited(int version, const siginfo_t *info);
/* Any version ever did something about a signal. */
extern bool p3_signals_touched;
/* In calls that may wait: the version's signals may interrupt them. */
static inline void p3_turn(int version) {
  if (p3_signals_touched)
    p3_touch(version);
}
/* In a handler for KICK: lets signals through that were deferred. False: it is too early. */
bool p3_signals_let_through(ucontext_t *context);
/* The same anywhere outside of handlers, before the thread's mask is asked for, changed or inherited. */
void p3_signals_release(void);
/* In a handler for KICK: sends versions what was kept for them. False: nothing is kept. */
bool p3_signals_kicked(ucontext_t *context);
void p3_signals_leave(int from);
void p3_signals_enter(int from, int to);
void p3_signals_ended(int version);
void p3_signals_stop(void);
void p3_signals_forked(int version);
/* Before an exec of the product itself: it inherits what this process did, and no pending signal. */
void p3_signals_rerun(void);
/* The version's disposition has a handler of the program. */
bool p3_signal_is_caught(int version, int signal);

/* ---- pending.c ---- */

/* How many signals are kept for each version. */
extern volatile int p3_pending_count[];
void p3_pending_add(int version, const siginfo_t *info);
/* Puts those of the version's that are in the mask on the kernel's queue. */
void p3_pending_send(int version, uint64_t which);
/* Whether the signal comes from there, and for whom. */
bool p3_pending_taken(const siginfo_t *info, int *version);
/* Another signal of this number arrived in the version's turn. The kernel may have kept that one only, so that the
 * version's, which becomes `info`, comes with it. */
bool p3_pending_merged(int version, int signal, siginfo_t *info);
/* The version's that are not on the kernel's queue any more were read by other means. */
void p3_pending_left(int version);
/* Forgets all of the version's. */
void p3_pending_drop(int version);
void p3_pending_forked(void);

/* ---- outside.c ---- */

/* `version` got this from another process. */
void p3_outside_remember(int version, int signal, const siginfo_t *info, bool blocked);
/* Whether it was sent again for a later version; `info` becomes what the first one got. */
bool p3_outside_again(siginfo_t *info);
bool p3_has_started(int version);
void p3_outside_started(int version);
void p3_outside_ended(int version);
void p3_outside_forked(void);

/* ---- timers.c ---- */

/* Whether the signal comes from a version's timer: `info` becomes what that version expects. */
bool p3_timer_signal(siginfo_t *info, int *version);
void p3_timers_ended(int version);
void p3_timers_forked(void);

/* ---- children.c ---- */
bool p3_has_children(int version);
/* Whether the process is a child of this one or a descendant that is still alive; and of which version. */
bool p3_is_of_family(pid_t real, int *version);
/* Version of a child; -1: not known. */
int p3_child_version(pid_t real);
/* Children of the version have ended and that was not yet seen: `info` becomes the SIGCHLD of one of them, which
 * stands for all. */
bool p3_child_unseen(int version, siginfo_t *info);
/* That of waitid or SIGCHLD says that a child ended, not that it stopped or went on. */
bool p3_is_child_end(const siginfo_t *info);
/* SIGCHLD says that the child ended. False: that was seen before. */
bool p3_child_see(pid_t real);
void p3_children_forked(void);
/* The following are called with the lock. Version of a child; -1: not known. */
int p3_child_owner(pid_t real);
/* Whether waitid's type and id name the process. */
bool p3_child_is(pid_t real, idtype_t type, id_t id);
/* A child of that kind that the version has; 0: none. */
pid_t p3_child_expected(int version, idtype_t type, id_t id);
/* Any version has one. */
bool p3_child_any(void);
/* One of which there is something to be had from waitid right now; 0: none. */
pid_t p3_child_ready(int version, idtype_t type, id_t id, int options);
/* The child has ended and was waited for. True: that was not yet seen. */
bool p3_child_forget(pid_t real);

/* ---- wait.c ---- */
/* The calling thread waits no more, as it will never return to where it does. */
void p3_wait_leave(void);
void p3_wait_ended(int version);
void p3_wait_forked(void);

/* Forks a process that is no child of this one, so that no version hears of it: 0 in that process, where all
 * signals are blocked and SIGPIPE is ignored. */
int p3_fork_apart(void);

/* ---- linger.c ---- */
void p3_linger_forked(int version);
/* All versions are over. */
void p3_linger(void);

/* ---- limits.c ---- */
void p3_limits_start(void);
/* Right before the version runs. */
void p3_limits_started(int version);
void p3_limits_enter(int to);
void p3_limits_restore(void);
void p3_limits_forked(int version);

/* ---- answers.c ---- */

/* The descriptor of the log, -1: none. */
int p3_answers_file(void);
void p3_answers_resume(int file);

/* ---- clock.c ---- */

/* Of a first run: its start by the monotonic clock, the latest answers about this and about CPU time. */
struct p3_times {
  int64_t started, latest, latest_cpu;
};
void p3_clock_hand_over(struct p3_times *times);
void p3_clock_resume(const struct p3_times *times);

/* ---- rerun.c; everything here does nothing where a product is not or cannot be started again ---- */

/* At the start of main. In a second run p3_lockstep is null afterwards. */
void p3_rerun_start(char **argv, char **envp);
/* When descriptors, directory and mask are known, when captures are made. */
void p3_rerun_streams(void);
void p3_rerun_captures(void);
/* The product was started with this descriptor above 2; its versions have left the directory that `fd` stands
 * for; one of them has forked. */
void p3_rerun_inherited(int fd);
void p3_rerun_directory(int fd);
void p3_rerun_child(pid_t real);
/* A version crashed by that signal, or one of these. Returns only if no other version goes on, or it is not
 * possible. */
enum {
  P3_RERUN_STALLED = 0, /* it ended, and the main thread does not get on */
  P3_RERUN_SHARED = -1, /* threads cannot have directories of their own */
  P3_RERUN_LIMIT = -2, /* a version lowers how much memory or processor time the process may have */
  P3_RERUN_BUSY = -3,  /* a signal ended it, and it does not leave */
  P3_RERUN_ABANDONED = -4, /* its frames cannot return */
  P3_RERUN_TWICE = -5, /* a call would return a second time */
};
void p3_rerun(int signal);
bool p3_rerun_is_possible(void);
/* Why the versions did not run in lock-step; empty: they did, or are not woven. */
void p3_rerun_reason(char *text, size_t size);

/* ---- pids.c ---- */
void p3_pids_start(void);

/* ---- pump.c ---- */
void p3_pump_start(void);

/* A child has ended: what it did not read of the standard input is the version's again. */
void p3_pump_settle(int version);

/* ---- relay.c ---- */

/* Before the version's first child is forked. */
void p3_relay_start(int version);
/* Whether it is the standard output or error that programs of the version get. */
bool p3_relay_has(int version, const struct stat *stat_of);

#endif
