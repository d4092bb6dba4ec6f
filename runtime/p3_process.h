/* Processes, threads, signals and time: what version/ code asks core/ for, and what core/main.c and
 * core/switch.c call when versions begin, change hands and end. Every function may be called in KLEE. */
#ifndef P3_PROCESS_H
#define P3_PROCESS_H

#include "p3_runtime.h"
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>

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
  P3_ASK_RANDOM,   /* getrandom, getentropy */
  P3_ASK_ARC4,     /* arc4random and its family */
  P3_ASK_FORK,     /* process number of the next child */
  P3_ASK_THREAD,   /* kernel's number of a thread */
  P3_ASK_PARENT,   /* getppid */
  P3_ASK_GROUP,    /* getpgrp, getpgid(0) */
  P3_ASK_SESSION,  /* getsid(0) */
  P3_ASK_SYSINFO,
  P3_ASK_LOAD,
  P3_ASK_CPU_NUMBER,
  P3_ASK_CLOCK,                        /* + clock id modulo 32 */
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

/* Whose questions they are: the process (virtual number) and its thread (0: main, then in order of creation). */
struct p3_asker {
  uint32_t process;
  uint32_t thread;
};

/* The answer to the cursor's next question, if a version already got one; the cursor moves on. */
bool p3_recall(struct p3_cursor *cursor, struct p3_asker asker, enum p3_question question, void *answer,
               size_t size);
/* Makes `answer` the answer to the cursor's next question and moves on; if another version was quicker, `answer`
 * becomes its. */
void p3_record(struct p3_cursor *cursor, struct p3_asker asker, enum p3_question question, void *answer,
               size_t size);
/* Before the first fork: answers given later are shared with the child. */
void p3_answers_open(void);

/* ---- core/clock.c: a version that runs after another one lives in the same time as that one ---- */

/* `version` begins to run. */
void p3_clock_started(int version);
/* How much later the version began than the first one, in nanoseconds, 0 in KLEE. Its present is the real time
 * minus this; a deadline that it computed is to be met that much later. */
int64_t p3_lag(int version);
/* What others had used when it began: RUSAGE_SELF or RUSAGE_CHILDREN. */
struct rusage p3_used_before(int version, int who);
/* The same as a CPU clock's reading. */
int64_t p3_cpu_before(int version);

/* ---- what core/main.c, core/switch.c and version/run.c call; all do nothing in KLEE ---- */

/* core/main.c, once, when descriptors are ready and before the first version begins. */
void p3_process_start(void);
/* core/main.c, right before a version's `run`. */
void p3_process_started(int version);
/* p3v_die, when the end is recorded and p3v_alive cleared, not in a forked child: stops the version's other
 * threads. On a thread that is not the one of main it makes that one leave the version's stack and never returns. */
void p3_process_dying(int version);
/* core/main.c, when the version is off the stack, however it ended. */
void p3_process_ended(int version);
/* core/main.c, when all versions are over: signals mean what they mean to any program again. */
void p3_process_stop(void);
/* p3_enter: `from` is about to lose the process, `to` has just got it. Either may be -1. */
void p3_process_leave(int from);
void p3_process_enter(int to);
/* p3_forked, in the child. */
void p3_process_forked(int version);

#endif
