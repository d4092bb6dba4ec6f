/* How shims of version/ print messages that libc would print on stderr, and their lock. */
#include "p3v_libc.h"
#include "p3v_streams.h"
#include <errno.h>
#include <libintl.h>
#include <locale.h>
#include <sched.h>
#include <stdlib.h>
#include <wchar.h>

void p3v_vsay(FILE *to, const char *format, va_list args) {
  char *text;
  va_list copy;
  va_copy(copy, args);
  bool is_done = p3_memory_print(p3v_index, to, format, copy) >= 0;
  va_end(copy);
  if (is_done)
    return;
  if (p3_in_klee() || fwide(to, 0) <= 0) {
    vfprintf(to, format, args);
  } else if (vasprintf(&text, format, args) >= 0) {
    fwprintf(to, L"%s", text);
    free(text);
  }
  p3v_wrote(to);
}

void p3v_say(FILE *to, const char *format, ...) {
  va_list args;
  va_start(args, format);
  p3v_vsay(to, format, args);
  va_end(args);
}

void p3v_vcomplain(const char *format, va_list args) { p3v_vsay(SHIM(stderr), format, args); }

void p3v_complain(const char *format, ...) {
  va_list args;
  va_start(args, format);
  p3v_vcomplain(format, args);
  va_end(args);
}

const char *p3v_translate(const char *message) {
  if (p3_in_klee())
    return message;
  int number = errno;
  p3v_attend_environ();
  message = dcgettext("libc", message, LC_MESSAGES);
  errno = number;
  return message;
}

void p3v_lock(p3v_lock_t *lock) {
  if (p3_in_klee())
    return;
  while (__atomic_test_and_set(lock, __ATOMIC_ACQUIRE))
    sched_yield();
}

void p3v_unlock(p3v_lock_t *lock) {
  if (!p3_in_klee())
    __atomic_clear(lock, __ATOMIC_RELEASE);
}
