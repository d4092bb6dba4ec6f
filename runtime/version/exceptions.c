/* std::terminate of C++: the handler that a program sets is its version's own, and so is what libstdc++'s usual one
 * remembers: that it was called before.
 *
 * The names are those of libstdc++'s functions and of the tables behind them (the C++ ABI of x86_64). */
#include "p3_process.h"
#include "p3v_streams.h"
#include <stdint.h>
#include <stdlib.h>

typedef void (*handler)(void);

struct type_info {
  const struct type_functions *functions;
  const char *name;
};

/* The table of functions of a std::type_info. */
struct type_functions {
  void (*destructors[2])(struct type_info *);
  bool (*is_pointer)(const struct type_info *);
  bool (*is_function)(const struct type_info *);
  bool (*catches)(const struct type_info *, const struct type_info *thrown, void **object, unsigned outer);
};

/* That of a std::exception, which is all that it consists of. */
struct exception {
  const struct exception_functions {
    void (*destructors[2])(struct exception *);
    const char *(*what)(const struct exception *);
  } *functions;
};

/* What stands before an object that was thrown; of one that std::rethrow_exception has thrown there are several. */
struct header {
  const void *type_or_object;
  void *others[9];
  uint64_t kind; /* bit 0: stands somewhere else */
  void *unwinding[3];
};
_Static_assert(sizeof(struct header) == 112, "as in libstdc++");

struct globals {
  const struct header *caught; /* last */
};

#define WEAK __attribute__((weak))
extern const struct type_info *__cxa_current_exception_type(void) WEAK;
extern char *__cxa_demangle(const char *name, char *space, size_t *size, int *status) WEAK;
extern const struct globals *__cxa_get_globals(void) WEAK;
extern const struct type_info _ZTISt9exception WEAK;
extern void _ZN9__gnu_cxx27__verbose_terminate_handlerEv(void) WEAK;

static handler present;

int SHIM(fputs)(const char *text, FILE *file);
static void say(const char *text) { SHIM(fputs)(text, SHIM(stderr)); }

static void say_type(const struct type_info *type) {
  const char *name = type->name + (type->name[0] == '*');
  int status = -1;
  char *readable = __cxa_demangle ? __cxa_demangle(name, NULL, NULL, &status) : NULL;
  say("terminate called after throwing an instance of '");
  say(status == 0 ? readable : name);
  say("'\n");
  if (status == 0)
    free(readable);
}

/* The object, as a handler for std::exception would get it; null: that does not catch it. */
static const struct exception *as_exception(const struct type_info *type) {
  if (!&_ZTISt9exception || !__cxa_get_globals)
    return NULL;
  const struct header *header = __cxa_get_globals()->caught;
  void *object = header->kind & 1 ? (void *)header->type_or_object : (void *)(header + 1);
  if (type->functions->is_pointer(type))
    object = *(void **)object;
  return _ZTISt9exception.functions->catches(&_ZTISt9exception, type, &object, 1) ? object : NULL;
}

/* What libstdc++'s handler says before it aborts. */
static void explain(void) {
  static bool called;
  if (called) {
    say("terminate called recursively\n");
    return;
  }
  called = true;
  const struct type_info *type = __cxa_current_exception_type ? __cxa_current_exception_type() : NULL;
  if (type) {
    say_type(type);
    const struct exception *exception = as_exception(type);
    if (exception) {
      const char *what = exception->functions->what(exception);
      say("  what():  ");
      say(what);
      say("\n");
    }
  } else {
    say("terminate called without an active exception\n");
  }
}

void SHIM(_ZN9__gnu_cxx27__verbose_terminate_handlerEv)(void) {
  explain();
  abort();
}

static void terminated(void) {
  if (present == SHIM(_ZN9__gnu_cxx27__verbose_terminate_handlerEv))
    explain();
  else
    present();
}

/* Called before the constructors of a program that may throw. */
void p3v_exceptions_start(void);
void p3v_exceptions_start(void) {
  if (p3_in_klee())
    return;
  present = p3_terminated_by(p3v_index, terminated);
  if (present == _ZN9__gnu_cxx27__verbose_terminate_handlerEv)
    present = SHIM(_ZN9__gnu_cxx27__verbose_terminate_handlerEv);
}

handler SHIM(_ZSt13get_terminatev)(void) { return __atomic_load_n(&present, __ATOMIC_ACQUIRE); }

handler SHIM(_ZSt13set_terminatePFvvE)(handler own) {
  return __atomic_exchange_n(&present, own, __ATOMIC_ACQ_REL);
}
