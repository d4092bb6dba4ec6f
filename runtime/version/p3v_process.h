/* What the process, thread, signal and time shims of version/ share. */
#ifndef P3V_PROCESS_H
#define P3V_PROCESS_H

#include "p3_process.h"
#include "p3_runtime.h"
#include <time.h>

/* clock.c: the calling thread's next answer to a question. */
bool p3v_recall(enum p3_question question, void *answer, size_t size);
void p3v_record(enum p3_question question, void *answer, size_t size);
/* The calling thread goes on as the main thread of another process. */
void p3v_questions_restart(void);
/* A deadline by the version's clock as one by the real clock. */
const struct timespec *p3v_deadline(const struct timespec *deadline, struct timespec *space);

/* process.c: the version's number of this process; numbers of others. 0 and negative ones too, as kill has
 * them. */
pid_t p3v_process(void);
pid_t p3v_real(pid_t virtual);
pid_t p3v_virtual(pid_t real);
/* As fork, but without the program's pthread_atfork handlers: for children that become other programs. */
pid_t p3v_fork_plainly(void);
pid_t SHIM(getpid)(void);
pid_t SHIM(fork)(void);
pid_t SHIM(waitpid)(pid_t child, int *status, int options);
int SHIM(kill)(pid_t process, int signal);
int SHIM(pthread_sigmask)(int how, const sigset_t *restrict set, sigset_t *restrict old);

/* exec.c */
char **p3v_environ(void);
/* In a forked child, as execve or execvpe. Returns if it failed. */
void p3v_become(const char *path, char *const *arguments, char *const *environment, bool search);

/* limits.c */
long SHIM(sysconf)(int name);

/* timer.c: what is left of the alarm, for a program that this process becomes. */
void p3v_alarm_hand_over(void);

/* popen.c: `file` was closed with this result; what fclose returns then. Waits for its child, if it is
 * popen's. */
int p3v_popen_closed(FILE *file, int result);

/* thread.c: 0 in the thread that runs the version's main, else the order of creation. */
extern _Thread_local uint32_t p3v_thread;
void p3v_threads_forked(void);
/* pthread_atfork's functions. */
void p3v_before_fork(void);
void p3v_after_fork(bool child);

/* exit.c: destructors of the calling thread's variables. */
void p3v_thread_destructors(void);

/* signal.c: sends the version itself a signal, as raise does. */
int p3v_raise(int signal);
/* Ends the version if a signal has doomed it and could not end it where it arrived. For shims to call after
 * anything that sends signals or waits. */
void p3v_poll(void);

#endif
