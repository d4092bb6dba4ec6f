/* Threads. They are real ones; each belongs to the version that created it (core/stop.c).
 *
 * All versions' mains run on one thread, which lives on when a version is done with it. So what would end
 * that thread (pthread_exit, cancellation) or wait for its end is acted out here. */
#include "p3v_libc.h"
#include "p3v_process.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

_Thread_local uint32_t p3v_thread;
static uint32_t created;

struct start {
  struct p3_thread core;
  uint32_t number;
  void *(*function)(void *);
  int (*c11_function)(void *);
  void *argument;
};

static bool is_main(pthread_t thread);

/* ---- beginning and ending ---- */

static void *run(struct p3_thread *thread) {
  struct start *start = (struct start *)thread;
  p3v_thread = start->number;
  p3v_libc_enter();
  if (start->c11_function)
    return (void *)(intptr_t)start->c11_function(start->argument);
  return start->function(start->argument);
}

static void over(struct p3_thread *thread) {
  (void)thread;
  p3v_thread_destructors();
}

static int create(pthread_t *thread, const pthread_attr_t *attributes, struct start what) {
  struct start *start = malloc(sizeof *start);
  if (!start)
    return EAGAIN;
  *start = what;
  start->core = (struct p3_thread){.version = p3v_index, .run = run, .over = over};
  start->number = __atomic_add_fetch(&created, 1, __ATOMIC_RELAXED);
  return p3_thread_create(thread, attributes, &start->core);
}

int SHIM(pthread_create)(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                         void *(*function)(void *), void *restrict argument) {
  if (p3_in_klee())
    return EAGAIN;
  return create(thread, attributes, (struct start){.function = function, .argument = argument});
}

int SHIM(thrd_create)(thrd_t *thread, thrd_start_t function, void *argument) {
  if (p3_in_klee())
    return thrd_error;
  int error = create(thread, NULL, (struct start){.c11_function = function, .argument = argument});
  return error == 0 ? thrd_success : error == ENOMEM ? thrd_nomem : thrd_error;
}

/* ---- the main thread ends ---- */

static volatile bool main_over;
static void *main_result;

/* Clean-up handlers of pthread_cleanup_push, newest first; linked as libc does, through the spare words. */
static __pthread_unwind_buf_t *cleanups;

struct key {
  pthread_key_t key;
  void (*destructor)(void *);
};
static struct key *keys;
static size_t key_count;

static void destroy_specific(void) {
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
    bool again = false;
    for (size_t i = 0; i < key_count; i++) {
      void *value = keys[i].destructor ? pthread_getspecific(keys[i].key) : NULL;
      if (!value)
        continue;
      pthread_setspecific(keys[i].key, NULL);
      keys[i].destructor(value);
      again = true;
    }
    if (!again)
      return;
  }
}

static void finish_main(void) {
  if (cleanups) {
    __pthread_unwind_buf_t *next = cleanups;
    cleanups = next->__pad[0];
    _longjmp((struct __jmp_buf_tag *)next->__cancel_jmp_buf, 1);
  }
  p3v_thread_destructors();
  destroy_specific();
  main_over = true;
  while (p3_thread_count(p3v_index) > 0) {
    struct timespec wait = {0, 1000000};
    nanosleep(&wait, NULL);
    p3v_poll();
  }
  SHIM(exit)(0);
}

void SHIM(pthread_exit)(void *result) {
  if (p3_in_klee()) {
    SHIM(exit)(0);
    return;
  }
  if (p3_thread_self())
    pthread_exit(result);
  main_result = result;
  finish_main();
}

void SHIM(thrd_exit)(int result) { SHIM(pthread_exit)((void *)(intptr_t)result); }

void SHIM(__pthread_register_cancel)(__pthread_unwind_buf_t *buffer) {
  if (p3_thread_self()) {
    __pthread_register_cancel(buffer);
    return;
  }
  buffer->__pad[0] = cleanups;
  cleanups = buffer;
}

void SHIM(__pthread_unregister_cancel)(__pthread_unwind_buf_t *buffer) {
  if (p3_thread_self())
    __pthread_unregister_cancel(buffer);
  else
    cleanups = buffer->__pad[0];
}

extern void __pthread_register_cancel_defer(__pthread_unwind_buf_t *buffer);
extern void __pthread_unregister_cancel_restore(__pthread_unwind_buf_t *buffer);

void SHIM(__pthread_register_cancel_defer)(__pthread_unwind_buf_t *buffer) {
  if (p3_thread_self())
    __pthread_register_cancel_defer(buffer);
  else
    SHIM(__pthread_register_cancel)(buffer);
}

void SHIM(__pthread_unregister_cancel_restore)(__pthread_unwind_buf_t *buffer) {
  if (p3_thread_self())
    __pthread_unregister_cancel_restore(buffer);
  else
    SHIM(__pthread_unregister_cancel)(buffer);
}

void SHIM(__pthread_unwind_next)(__pthread_unwind_buf_t *buffer) {
  if (p3_thread_self())
    __pthread_unwind_next(buffer);
  finish_main();
}

int SHIM(pthread_key_create)(pthread_key_t *key, void (*destructor)(void *)) {
  int error = pthread_key_create(key, destructor);
  if (error || !destructor)
    return error;
  struct key *more = realloc(keys, (key_count + 1) * sizeof *more);
  if (!more)
    return 0;
  keys = more;
  keys[key_count++] = (struct key){*key, destructor};
  return 0;
}

int SHIM(__pthread_key_create)(pthread_key_t *key, void (*destructor)(void *)) {
  return SHIM(pthread_key_create)(key, destructor);
}

int SHIM(pthread_key_delete)(pthread_key_t key) {
  for (size_t i = 0; i < key_count; i++)
    if (keys[i].key == key)
      keys[i].destructor = NULL;
  return pthread_key_delete(key);
}

int SHIM(tss_create)(tss_t *key, tss_dtor_t destructor) {
  return SHIM(pthread_key_create)(key, destructor) == 0 ? thrd_success : thrd_error;
}

void SHIM(tss_delete)(tss_t key) { SHIM(pthread_key_delete)(key); }

/* ---- waiting for threads and cancelling them ---- */

static pthread_t main_thread; /* valid once another thread exists */
static bool main_known, main_detached;

static bool is_main(pthread_t thread) {
  if (!p3_thread_self()) {
    main_thread = pthread_self();
    main_known = true;
  }
  return main_known && pthread_equal(thread, main_thread);
}

/* By another thread. */
static int join_main(void **result) {
  if (main_detached)
    return EINVAL;
  if (!p3_thread_self())
    return EDEADLK;
  while (!main_over) {
    struct timespec wait = {0, 1000000};
    nanosleep(&wait, NULL);
  }
  if (result)
    *result = main_result;
  return 0;
}

int SHIM(pthread_join)(pthread_t thread, void **result) {
  int error = is_main(thread) ? join_main(result) : pthread_join(thread, result);
  p3v_poll();
  return error;
}

int SHIM(pthread_timedjoin_np)(pthread_t thread, void **result, const struct timespec *deadline) {
  struct timespec space;
  int error = is_main(thread) ? join_main(result)
                              : pthread_timedjoin_np(thread, result, p3v_deadline(deadline, &space));
  p3v_poll();
  return error;
}

int SHIM(pthread_clockjoin_np)(pthread_t thread, void **result, clockid_t clock,
                               const struct timespec *deadline) {
  struct timespec space;
  int error = is_main(thread) ? join_main(result)
                              : pthread_clockjoin_np(thread, result, clock, p3v_deadline(deadline, &space));
  p3v_poll();
  return error;
}

int SHIM(thrd_join)(thrd_t thread, int *result) {
  void *value;
  if (SHIM(pthread_join)(thread, &value) != 0)
    return thrd_error;
  if (result)
    *result = (int)(intptr_t)value;
  return thrd_success;
}

int SHIM(pthread_detach)(pthread_t thread) {
  if (!is_main(thread))
    return pthread_detach(thread);
  if (main_detached)
    return EINVAL;
  main_detached = true;
  return 0;
}

int SHIM(thrd_detach)(thrd_t thread) { return SHIM(pthread_detach)(thread) == 0 ? thrd_success : thrd_error; }

static void cancel_main(void) {
  main_result = PTHREAD_CANCELED;
  finish_main();
}

int SHIM(pthread_cancel)(pthread_t thread) {
  if (!is_main(thread))
    return pthread_cancel(thread);
  if (p3_thread_self())
    p3_cancel_main(p3v_index, cancel_main);
  else
    cancel_main();
  return 0;
}

/* ---- fork ---- */

struct at_fork {
  void (*before)(void), (*in_parent)(void), (*in_child)(void);
};
static struct at_fork *at_forks;
static size_t at_fork_count;

int SHIM(pthread_atfork)(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
  struct at_fork *more = realloc(at_forks, (at_fork_count + 1) * sizeof *more);
  if (!more)
    return ENOMEM;
  at_forks = more;
  at_forks[at_fork_count++] = (struct at_fork){before, in_parent, in_child};
  return 0;
}

int SHIM(__register_atfork)(void (*before)(void), void (*in_parent)(void), void (*in_child)(void),
                            void *object) {
  (void)object;
  return SHIM(pthread_atfork)(before, in_parent, in_child);
}

void p3v_before_fork(void) {
  for (size_t i = at_fork_count; i-- > 0;)
    if (at_forks[i].before)
      at_forks[i].before();
}

void p3v_after_fork(bool child) {
  for (size_t i = 0; i < at_fork_count; i++) {
    void (*function)(void) = child ? at_forks[i].in_child : at_forks[i].in_parent;
    if (function)
      function();
  }
}

void p3v_threads_forked(void) {
  p3v_thread = 0;
  created = 0;
  main_thread = pthread_self();
  main_known = true;
}
