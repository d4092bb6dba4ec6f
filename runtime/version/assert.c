/* Ending a version because something is wrong: abort, failed assertions, glibc's own hardening. */
#include "p3v_libc.h"
#include "p3v_process.h"
#include "p3v_streams.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

int SHIM(raise)(int number);
int SHIM(sigprocmask)(int how, const sigset_t *set, sigset_t *old);

/* A handler of the program is called, and what it does counts; if it returns, it was in vain. */
/* A handler may leave for good; if it returns, or there is none, or the signal is ignored, the end is the
 * same. */
void SHIM(abort)(void) {
  if (!p3v_klee) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGABRT);
    SHIM(sigprocmask)(SIG_UNBLOCK, &only, NULL);
    SHIM(raise)(SIGABRT);
  }
  p3v_die(P3_SIGNALED, SIGABRT);
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
