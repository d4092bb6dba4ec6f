/* Coroutines of makecontext: what happens when one comes to its end, and when the version ends in one.
 *
 * libc calls exit when a function returns whose context has no successor: here that is the version's exit. And a
 * version that has ended returns from all functions, also from a coroutine's first one. Then the main thread has to
 * get back to its own stack, where other versions go on: to the place where the version last left that stack. (On
 * other threads there is nothing to go back to: nobody needs them any more.)
 *
 * No function of ours may stand between the program and swapcontext: a program can come back to the same context
 * more than once, as long as its own function has not returned. In lock-step that is impossible, as other versions have
 * gone on from there; then the product starts again without. (Functions that call getcontext are not woven.) */
#include "p3_process.h"
#include "p3_runtime.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

/* What a coroutine begins with; stands at the top of its stack. */
struct coroutine {
  void (*function)(long, ...);
  const ucontext_t *next; /* libc looks at uc_link when the context is made */
  int count;
  long arguments[];
};

#define IN_REGISTERS 6
#define ARGUMENTS 24

struct stack {
  uintptr_t from, to;
};

/* Where the main thread's own stack was left last; null: it is in use. */
static const ucontext_t *home;
static ucontext_t home_kept;

/* Stacks of coroutines that are variables of functions of the main thread. */
static struct stack *inner;
static size_t inner_count;

/* The main thread's own stack, once known. */
static struct stack own;

static void find_own(void) {
  pthread_attr_t attributes;
  int number = errno;
  if (!own.to && !p3_thread_self() && pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void *start;
    size_t size;
    pthread_attr_getstack(&attributes, &start, &size);
    pthread_attr_destroy(&attributes);
    own = (struct stack){(uintptr_t)start, (uintptr_t)start + size};
  }
  errno = number;
}

static bool is_in(uintptr_t address, struct stack stack) {
  return address >= stack.from && address < stack.to;
}

/* Of the main thread: whether the address is on its own stack. This is asked when the version has ended, too: it calls
 * nothing after which the terminate pass would make it return. */
static bool is_home(uintptr_t address) {
  if (!is_in(address, own))
    return false;
  for (size_t i = 0; i < inner_count; i++)
    if (is_in(address, inner[i]))
      return false;
  return true;
}

/* Where the program called swapcontext on that stack, as far as there is room. */
static uintptr_t calls[16];
static size_t call_count;

static bool is_call(uintptr_t place) {
  for (size_t i = 0; i < call_count; i++)
    if (calls[i] == place)
      return true;
  return call_count == sizeof calls / sizeof *calls;
}

static uintptr_t place_of(const ucontext_t *context) {
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

static uintptr_t stack_of(const ucontext_t *context) {
  return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

static bool leads_home(const ucontext_t *context) {
  return is_home(stack_of(context));
}

/* The main thread is about to go on with that context; `away`: it is on another stack than its own. */
static void arrive(const ucontext_t *context, bool away) {
  if (!leads_home(context))
    return;
  bool was_left_there =
      away && home && stack_of(home) == stack_of(context) && place_of(home) == place_of(context);
  home = NULL;
  if (!was_left_there && is_call(place_of(context)))
    p3_returns_twice();
}

/* Those below `address` belong to functions that have returned; the others that `stack` overlaps, too. */
static void add_inner(struct stack stack, uintptr_t address) {
  size_t kept = 0;
  for (size_t i = 0; i < inner_count; i++)
    if (inner[i].to > address && (inner[i].to <= stack.from || inner[i].from >= stack.to))
      inner[kept++] = inner[i];
  inner_count = kept;
  struct stack *more = realloc(inner, (kept + 1) * sizeof *more);
  if (!more)
    return;
  inner = more;
  inner[inner_count++] = stack;
}

static void keep_home(void) {
  if (!home || home == &home_kept)
    return;
  home_kept = *home;
  home_kept.uc_mcontext.fpregs = &home_kept.__fpregs_mem;
  home = &home_kept;
}

/* The calling thread goes on with another context. `place` is not 0: `old` is to become the present one, in which it
 * will go on there. */
static void switch_to(const ucontext_t *context, const ucontext_t *old, uintptr_t here, uintptr_t place) {
  p3_touch(p3v_index); /* contexts have signal masks */
  if (p3_thread_self())
    return;
  find_own();
  bool away = !is_home(here);
  if (away && home == old)
    keep_home();
  arrive(context, away);
  if (away || leads_home(context))
    return;
  home = old;
  if (place && !is_call(place))
    calls[call_count++] = place;
}

__attribute__((noinline)) int SHIM(swapcontext)(ucontext_t *old, const ucontext_t *context) {
  switch_to(context, old, (uintptr_t)__builtin_frame_address(0), (uintptr_t)__builtin_return_address(0));
  __attribute__((musttail)) return swapcontext(old, context);
}

__attribute__((noinline)) int SHIM(setcontext)(const ucontext_t *context) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  find_own();
  bool leaves = !p3_thread_self() && is_home(here) && !leads_home(context);
  switch_to(context, &home_kept, here, 0);
  return leaves ? swapcontext(&home_kept, context) : setcontext(context);
}

static void call(const struct coroutine *self) {
  const long *a = self->arguments;
  if (self->count <= IN_REGISTERS)
    self->function(a[0], a[1], a[2], a[3], a[4], a[5]);
  else
    self->function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
                   a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23]);
}

/* The terminate pass leaves this function alone: it is where the version's frames return to. */
void p3v_coroutine(const struct coroutine *self);
void p3v_coroutine(const struct coroutine *self) {
  call(self);
  if (p3v_alive && !self->next)
    SHIM(exit)(0);
  if (p3v_alive) {
    if (!p3_thread_self())
      arrive(self->next, true);
    return;
  }
  if (home && !p3_thread_self() && leads_home(home))
    setcontext(home);
  p3_abandon(p3v_index);
}

void SHIM(makecontext)(ucontext_t *context, void (*function)(void), int count, ...) {
  uintptr_t start = (uintptr_t)context->uc_stack.ss_sp, here = (uintptr_t)__builtin_frame_address(0);
  size_t size = context->uc_stack.ss_size;
  if (count > ARGUMENTS)
    p3_fatal("makecontext with more than %d arguments", ARGUMENTS);
  size_t needed = sizeof(struct coroutine) + (count > IN_REGISTERS ? ARGUMENTS : IN_REGISTERS) * sizeof(long);
  struct coroutine *self = (struct coroutine *)((start + size - needed) & ~(uintptr_t)15);
  find_own();
  if (!p3_thread_self() && is_in(start, own))
    add_inner((struct stack){start, start + size}, here);
  if (home == context)
    keep_home();
  self->function = (void (*)(long, ...))function;
  self->next = context->uc_link;
  self->count = count;
  va_list arguments;
  va_start(arguments, count);
  for (int i = 0; i < count; i++)
    self->arguments[i] = va_arg(arguments, long);
  va_end(arguments);
  context->uc_stack.ss_size = (uintptr_t)self - start;
  makecontext(context, (void (*)(void))p3v_coroutine, 1, self);
  context->uc_stack.ss_size = size;
}
