/* Ending a version because something is wrong: abort, failed assertions, glibc's own hardening. */
#include "p3v_libc.h"
#include "p3v_process.h"
#include "p3v_streams.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

/* A handler of the program may leave for good. If it returns, or there is none, or the signal is ignored, the end
 * is the same. */
void SHIM(abort)(void) {
  struct p3_disposition now;
  if (p3_signal_set(p3v_index, SIGABRT, NULL, &now) == 0 && now.handler != SIG_DFL &&
      now.handler != SIG_IGN) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGABRT);
    SHIM(pthread_sigmask)(SIG_UNBLOCK, &set, NULL);
    p3v_raise(SIGABRT);
  }
  p3v_die_at_once(P3_SIGNALED, SIGABRT);
}

static void failed(const char *message, const char *assertion, const char *file, unsigned line,
                   const char *function) {
  const char *name = SHIM(program_invocation_short_name);
  p3v_complain(p3v_translate(message), name, *name ? ": " : "", file, line, function ? function : "",
               function ? ": " : "", assertion);
  fflush(SHIM(stderr));
  p3v_wrote(SHIM(stderr));
  P3_ME->assert_failed = true;
  SHIM(abort)();
}

void SHIM(__assert_fail)(const char *assertion, const char *file, unsigned line, const char *function) {
  failed("%s%s%s:%u: %s%sAssertion `%s' failed.\n", assertion, file, line, function);
}

void SHIM(__assert)(const char *assertion, const char *file, int line) {
  SHIM(__assert_fail)(assertion, file, line, NULL);
}

void SHIM(__assert_perror_fail)(int number, const char *file, unsigned line, const char *function) {
  failed("%s%s%s:%u: %s%sUnexpected error: %s.\n", SHIM(strerror)(number), file, line, function);
}

/* glibc's messages do not pass through stdio. */
static void hardening(const char *reason) {
  char message[128];
  int length = snprintf(message, sizeof message, "*** %s ***: terminated\n", reason);
  p3_fd_write(p3v_index, 2, message, length);
  SHIM(abort)();
}

void SHIM(__stack_chk_fail)(void) { hardening("stack smashing detected"); }

void SHIM(__chk_fail)(void) { hardening("buffer overflow detected"); }

void SHIM(__fortify_fail)(const char *reason) { hardening(reason); }
