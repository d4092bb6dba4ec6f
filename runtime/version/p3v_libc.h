/* What the libc-state shims of version/ share: messages on the version's standard error, reading
 * libc's translations and environment as this version, a lock for hidden state. */
#ifndef P3V_LIBC_H
#define P3V_LIBC_H

#include "core/libc.h"
#include "p3_runtime.h"
#include <stdarg.h>

/* Prepares environ and the program's names; called once before any code of the version. */
void p3v_libc_init(int argc, char **argv, char **envp);
/* The hook `enter`: what libc keeps once per process or thread becomes the version's. */
void p3v_libc_enter(void);

/* What a shim calls first if libc itself reads state of the process or thread in it. Versions that alternate
 * call by call do not become owners of everything for that. */

/* Locale and conversions of printf. */
static inline void p3v_attend(void) {
  if (p3_reading_differs && p3_reader != p3_readings[p3v_index])
    p3v_libc_enter();
}
/* These and `environ`. */
void p3v_attend_environ(void);
/* Everything that p3_enter exchanges, too: current directory, standard descriptors. */
void p3v_own(void);

/* printf to a byte- or wide-oriented FILE of the version, or to its stderr, as libc prints its own messages.
 */
void p3v_say(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void p3v_vsay(FILE *to, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void p3v_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void p3v_vcomplain(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* libc's translation of one of its own messages in the version's locale. */
const char *p3v_translate(const char *message) __attribute__((format_arg(1)));

/* A spin lock for the state that libc guards by a lock; nothing in KLEE, which has no threads. */
typedef unsigned char p3v_lock_t;
void p3v_lock(p3v_lock_t *lock);
void p3v_unlock(p3v_lock_t *lock);

extern char **SHIM(environ);
char *SHIM(getenv)(const char *name);
char *SHIM(strerror)(int number);
extern char *SHIM(program_invocation_name);
extern char *SHIM(program_invocation_short_name);

#endif
