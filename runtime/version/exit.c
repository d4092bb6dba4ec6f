/* Ending a version the regular ways, as glibc does it: handlers in reverse order, also those registered
 * meanwhile; exit called by a handler goes on with the remaining ones and its status counts; then
 * destructors, then the FILEs. None of these functions leaves by a jump: they return, and the terminate pass
 * makes the callers return. */
#include "p3v_streams.h"
#include <signal.h>
#include <stdlib.h>

enum kind { PLAIN, WITH_ARGUMENT, WITH_STATUS };

struct handler {
  enum kind kind;
  union {
    void (*plain)(void);
    void (*with_argument)(void *argument);
    void (*with_status)(int status, void *argument);
  } call;
  void *argument;
};

struct list {
  struct handler *handlers;
  size_t count, capacity;
};
static struct list at_exit, at_quick_exit_;
static _Thread_local struct list at_thread_exit;
/* KLEE has one thread, and calls what finds thread-local variables as external code. */
static struct list at_only_thread_exit;
static bool destroying;
/* Whether any of the lists has ever had an entry. */
static bool registered;
bool p3v_ends_late;

static int add(struct list *list, struct handler handler) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 32;
    struct handler *more = realloc(list->handlers, capacity * sizeof *more);
    if (!more)
      return -1;
    list->handlers = more;
    list->capacity = capacity;
  }
  list->handlers[list->count++] = handler;
  registered = p3v_ends_late = true;
  return 0;
}

static __attribute__((noinline)) void run_all(struct list *list, int status) {
  while (list->count) {
    struct handler handler = list->handlers[--list->count];
    switch (handler.kind) {
    case PLAIN:
      handler.call.plain();
      break;
    case WITH_ARGUMENT:
      handler.call.with_argument(handler.argument);
      break;
    case WITH_STATUS:
      handler.call.with_status(status, handler.argument);
      break;
    }
  }
}

int SHIM(atexit)(void (*function)(void)) { return add(&at_exit, (struct handler){PLAIN, {function}, NULL}); }

int SHIM(on_exit)(void (*function)(int, void *), void *argument) {
  return add(&at_exit, (struct handler){WITH_STATUS, {.with_status = function}, argument});
}

int SHIM(__cxa_atexit)(void (*function)(void *), void *argument, void *dso) {
  (void)dso;
  return add(&at_exit, (struct handler){WITH_ARGUMENT, {.with_argument = function}, argument});
}

int SHIM(at_quick_exit)(void (*function)(void)) {
  return add(&at_quick_exit_, (struct handler){PLAIN, {function}, NULL});
}

int SHIM(__cxa_at_quick_exit)(void (*function)(void *), void *dso) {
  (void)dso;
  return add(&at_quick_exit_, (struct handler){WITH_ARGUMENT, {.with_argument = function}, NULL});
}

static struct list *thread_list(void) { return p3v_klee ? &at_only_thread_exit : &at_thread_exit; }

int SHIM(__cxa_thread_atexit_impl)(void (*function)(void *), void *argument, void *dso) {
  (void)dso;
  return add(thread_list(), (struct handler){WITH_ARGUMENT, {.with_argument = function}, argument});
}

int SHIM(__cxa_thread_atexit)(void (*function)(void *), void *argument, void *dso) {
  return SHIM(__cxa_thread_atexit_impl)(function, argument, dso);
}

void p3v_thread_destructors(void) { run_all(thread_list(), 0); }

static __attribute__((noinline)) void run_last(int status) {
  if (registered) {
    p3v_thread_destructors();
    run_all(&at_exit, status);
  }
  if (!destroying) {
    destroying = true;
    p3v_user_dtors();
    /* Those that a destructor registered. */
    if (registered)
      run_all(&at_exit, status);
  }
  switch (p3v_files) {
  case P3V_NO_FILES:
    break;
  case P3V_STREAMS:
    p3v_drain_all();
    break;
  case P3V_FILES:
    p3v_files_flush();
  }
}

void SHIM(exit)(int status) {
  if (p3v_ends_late)
    run_last(status);
  p3v_die(P3_EXITED, status & 0xff);
}

void SHIM(quick_exit)(int status) {
  run_all(&at_quick_exit_, status);
  p3v_die_at_once(P3_EXITED, status & 0xff);
}

void SHIM(_exit)(int status) { p3v_die_at_once(P3_EXITED, status & 0xff); }

void SHIM(_Exit)(int status) { p3v_die_at_once(P3_EXITED, status & 0xff); }
