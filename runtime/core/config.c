/* The environment variables that control a product: P3_OUTDIR, P3_SHOW, P3_STATUS, P3_ON_DIVERGENCE,
 * P3_INPUT, P3_INPUT_NAMES. */
#include "core.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct p3_config p3_config = {.outdir = -1};

/* Defined by the code that fuzzers and sanitizers add to a program. */
#define WEAK __attribute__((weak))
WEAK void __afl_manual_init(void);
WEAK void LLVMFuzzerRunDriver(void);
WEAK void __asan_init(void);
WEAK void __msan_init(void);
WEAK void __tsan_init(void);
WEAK void __hwasan_init(void);
WEAK void __sanitizer_set_report_fd(void *fd);

/* Whether the address of a weak function is not null; through a volatile, since KLEE has no such addresses
 * and the compiler would not compare them otherwise. */
static bool defined(void (*volatile function)(void)) { return function != NULL; }

/* A version's number, 1-based; P3_NOBODY for `word`. */
static int version_or(const char *name, const char *value, const char *word, const char *expected) {
  if (strcmp(value, word) == 0)
    return P3_NOBODY;
  char *end;
  errno = 0;
  long number = strtol(value, &end, 10);
  if (*value < '0' || *value > '9' || *end || errno || number < 1 || number > p3_count)
    p3_fatal("%s=%s: expected %s or a version's number, 1 to %d", name, value, expected, p3_count);
  return number - 1;
}

bool p3_is_control(const char *variable) {
  return variable[0] == 'P' && variable[1] == '3' && variable[2] == '_';
}

static bool has_control(char **environment) {
  while (*environment && !p3_is_control(*environment))
    environment++;
  return *environment;
}

/* In KLEE a look at every variable costs as much as a small program, and getenv more than most. */
const char *p3_config_value(char **environment, const char *name) {
  if (!p3_config.controlled)
    return NULL;
  for (; *environment; environment++) {
    const char *variable = *environment;
    size_t length = strlen(name);
    if (p3_is_control(variable) && strncmp(variable, name, length) == 0 && variable[length] == '=')
      return variable + length + 1;
  }
  return NULL;
}

static const char *outdir, *input, *input_names;

void p3_config_read(char **environment) {
  bool klee = p3_in_klee();
  p3_config.controlled = has_control(environment);
  if (!klee) {
    p3_config.fuzzed = defined(__afl_manual_init) || defined(LLVMFuzzerRunDriver);
    p3_config.sanitized =
        defined(__asan_init) || defined(__msan_init) || defined(__tsan_init) || defined(__hwasan_init);
  }
  bool quiet = klee || p3_config.fuzzed;
  p3_config.show = quiet ? P3_NOBODY : 0;
  p3_config.show_all = !quiet;
  p3_config.status = P3_NOBODY;

  const char *show = p3_config_value(environment, "P3_SHOW");
  if (show) {
    p3_config.show_all = strcmp(show, "all") == 0;
    p3_config.show = p3_config.show_all ? 0 : version_or("P3_SHOW", show, "none", "all, none");
  }
  const char *status = p3_config_value(environment, "P3_STATUS");
  if (status)
    p3_config.status = version_or("P3_STATUS", status, "combined", "combined");
  input = klee ? NULL : p3_config_value(environment, "P3_INPUT");
  input_names = klee ? NULL : p3_config_value(environment, "P3_INPUT_NAMES");
  if (p3_checks & (P3_CHECK_DIVERGENCE | P3_CHECK_RETURNS))
    p3_parting_configure(p3_config_value(environment, "P3_ON_DIVERGENCE"));
  /* Not in KLEE: files made of symbolic bytes would have to be made concrete, and every path would write the
   * same ones. */
  outdir = klee ? NULL : p3_config_value(environment, "P3_OUTDIR");
}

/* A sanitizer would report to descriptor 2, which is the running version's capture and lost when the product dies. */
void p3_config_redirect_reports(void) {
  void (*volatile set)(void *) = __sanitizer_set_report_fd;
  int fd = p3_is_harness ? p3_messages : p3_originals[2].fd;
  if (p3_config.sanitized && fd >= 0 && set)
    set((void *)(intptr_t)fd);
}

/* Opened early and kept: the program may change its directory or its root. */
void p3_config_open_outdir(void) {
  if (input)
    p3_marked_open(input, input_names);
  if (!outdir)
    return;
  p3_config.outdir = p3_fd_hide(open(outdir, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (p3_config.outdir < 0 || faccessat(AT_FDCWD, outdir, W_OK | X_OK, AT_EACCESS) != 0)
    p3_fatal("P3_OUTDIR=%s: %s", outdir, strerror(errno));
}
