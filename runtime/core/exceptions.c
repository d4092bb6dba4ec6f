/* How C++ programs end by an exception that nobody catches: libstdc++ has one handler for the process. */
#include "core.h"
#include "process.h"

typedef void (*handler)(void);
extern handler _ZSt13set_terminatePFvvE(handler) __attribute__((weak)); /* std::set_terminate */

static handler original, handlers[P3_MAX_VERSIONS];

/* Returns to std::terminate, which aborts. A version that has ended has no way back through that; nor is it ended by a
 * signal of a thread that nobody knows whose it is. */
static void terminated(void) {
  int version = p3_current();
  handler own = version < 0 ? NULL : handlers[version];
  if (!own) {
    if (original)
      original();
    return;
  }
  own();
  if (!p3_thread_self() && !p3_on_main_thread() && !p3_has_ended(version))
    p3_versions[version]->die(P3_SIGNALED, SIGABRT);
  if (p3_has_ended(version))
    p3_abandon(version);
}

void (*p3_terminated_by(int version, void (*own)(void)))(void) {
  if (!_ZSt13set_terminatePFvvE)
    return NULL;
  handler before = _ZSt13set_terminatePFvvE(terminated);
  if (before != terminated)
    original = before;
  handlers[version] = own;
  return original;
}
