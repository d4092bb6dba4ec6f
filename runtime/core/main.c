/* The product's entry: prepares every version, runs them one after the other, compares, reports, ends.
 *
 * Natively each version runs under sigsetjmp: a crash signal leaves its stack by p3_crash and the other
 * versions still run. A sanitizer or a fuzzer sees crashes itself, and KLEE has neither signals nor setjmp. */
#include "core.h"
#include "process.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct p3_state p3_states[P3_MAX_VERSIONS] = {
    [0 ... P3_MAX_VERSIONS - 1] = {.direct = {P3_NO_FILE, P3_NO_FILE, P3_NO_FILE}}};
bool p3_is_harness, p3_in_process;
unsigned p3_living;
int p3_messages = -1;
bool (*p3_listener)(const char *line, size_t size);
_Thread_local int p3_inside;

static sigjmp_buf way_out;
static bool contained;
static pthread_t main_thread;

bool p3_contained(void) { return contained && pthread_equal(pthread_self(), main_thread); }

void p3_crash(int signal) {
  if (signal) {
    int version = p3_current();
    p3_states[version].end = P3_SIGNALED;
    p3_states[version].value = signal;
  }
  siglongjmp(way_out, 1);
}

void p3_settle(int version) {
  int signal = p3_states[version].doomed;
  p3_signed(version);
  if (--p3_inside == 0 && signal && p3_states[version].end == P3_RUNNING)
    p3_versions[version]->die(P3_SIGNALED, signal);
}

static void vsay(const char *format, va_list arguments) {
  char line[1024];
  size_t start = 4, room = sizeof line - start - 1;
  memcpy(line, "p3: ", start);
  int length = p3_vformat(line + start, room, format, arguments);
  size_t size = start + (length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1);
  line[size++] = '\n';
  if (p3_listener && p3_listener(line, size))
    return;
  int fd = p3_messages >= 0 ? p3_messages : p3_originals[2].fd > 0 ? p3_originals[2].fd : 2;
  (void)!write(fd, line, size);
}

void p3_say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsay(format, arguments);
  va_end(arguments);
}

void p3_fatal(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsay(format, arguments);
  va_end(arguments);
  _exit(2);
}

/* ---- arguments and environment ---- */

/* A private copy, by object size in KLEE: the length of a symbolic string would have to be searched for. */
static char *copy_string(char *string) {
  size_t size = p3_object_size(string);
  if (!size)
    size = strlen(string) + 1;
  char *copy = malloc(size);
  if (!copy)
    p3_fatal("out of memory");
  p3_memory_copy(copy, string, size);
  return copy;
}

/* A private copy of a list of strings. */
static char **copy_list(char **list) {
  size_t count = 0;
  while (list && list[count])
    count++;
  char **copy = malloc((count + 1) * sizeof *copy);
  if (!copy)
    p3_fatal("out of memory");
  for (size_t i = 0; i < count; i++)
    copy[i] = copy_string(list[i]);
  copy[count] = NULL;
  return copy;
}

/* A private copy of the environment without the variables that control the product. In KLEE the strings are
 * shared: copying them costs more than many programs. */
static char **copy_environment(char **list) {
  size_t count = 0, kept = 0;
  while (list[count])
    count++;
  char **copy = malloc((count + 1) * sizeof *copy);
  if (!copy)
    p3_fatal("out of memory");
  bool shared = p3_in_klee(), controlled = p3_config.controlled;
  for (size_t i = 0; i < count; i++)
    if (!controlled || !p3_is_control(list[i]))
      copy[kept++] = shared ? list[i] : copy_string(list[i]);
  copy[kept] = NULL;
  return copy;
}

/* ---- running ---- */

/* libc's exit itself is called by code that is not the versions': native libraries and their copies. That ends
 * the version for which they work. They have no frames that would return. */
static void exited_outside(int status, void *unused) {
  (void)unused;
  int version = p3_owner;
  if (!p3_contained() || version < 0 || p3_has_ended(version))
    return;
  on_exit(exited_outside, NULL);
  p3_versions[version]->exit(status);
  p3_abandon(version);
}

static void run_contained(void (*run)(void)) {
  if (p3_in_klee()) {
    run();
    return;
  }
  if (sigsetjmp(way_out, 1) == 0) {
    contained = true;
    run();
  }
  contained = false;
}

/* The version is over and off the stack. */
static void leave(int version) {
  p3_process_ended(version);
  p3_versions[version]->ended();
  p3_show(version);
  p3_inside = 0;
  p3_captures_unlock();
  p3_input_unlock();
  p3_fds_close_all(version);
  p3_fifo_review();
  if (p3_only >= 0)
    p3_only_end();
}

static void run_version(int version) {
  p3_enter(version);
  p3_process_started(version);
  run_contained(p3_versions[version]->run);
  if (!p3_in_klee())
    leave(version);
}

/* A crash in here is contained only if no other version needs the stack any more; else see rerun.c. */
static void run_together(void) {
  for (int i = 0; i < p3_count; i++)
    p3_process_started(i);
  p3_enter(0);
  run_contained(p3_lockstep);
  for (int i = 0; !p3_in_klee() && i < p3_count; i++)
    if (p3_only < 0 || p3_only == i) {
      p3_enter(i);
      leave(i);
    }
}

void p3_run_versions(void) {
  if (!p3_in_klee())
    main_thread = pthread_self();
  if (p3_lockstep)
    run_together();
  else
    for (int i = 0; i < p3_count; i++)
      run_version(i);
  if (!p3_in_klee())
    p3_fds_restore();
}

/* ---- ending ---- */

static _Noreturn void end_as(int version) {
  struct p3_state *state = &p3_states[version];
  if (state->end == P3_SIGNALED) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, state->value);
    signal(state->value, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(state->value);
    /* Ignored by default, or not deadly. */
    _exit(128 + state->value);
  }
  exit(state->value);
}

void p3_only_end(void) {
  struct p3_state *state = &p3_states[p3_only];
  if (state->end != P3_SIGNALED)
    _exit(state->value);
  end_as(p3_only);
}

/* Equal ends and equal output need no further look. The product's status if no version's is 0. */
static bool decides_quickly, compares_output;
static int status_of_all;
/* The last version's: p3_count would have to be computed with on every path. */
static const struct p3_state *last;

/* Whether versions ended by exit with the same status and have written the same. Both may be symbolic, numbers of bytes
 * hardly ever: where these tell it, no question is made of the rest. */
static bool ended_alike(void) {
  bool otherwise = p3_states[0].end != P3_EXITED;
  const struct p3_state *state = p3_states;
  do {
    state++;
    otherwise |= (state->end != P3_EXITED) | (state->value != p3_states[0].value);
  } while (state != last);
  if (!p3_is_captured_in_memory)
    return !otherwise;
  if (p3_marks || !compares_output)
    return false;
  const size_t count = (size_t)p3_count, out = p3_captures[0][1].length, err = p3_captures[0][2].length;
  size_t i = 1;
  do {
    if (p3_captures[i][1].length != out || p3_captures[i][2].length != err)
      return false;
    if (out)
      otherwise |= p3_memory_differs(p3_captures[i][1].bytes, p3_captures[0][1].bytes, out);
    if (err)
      otherwise |= p3_memory_differs(p3_captures[i][2].bytes, p3_captures[0][2].bytes, err);
  } while (++i < count);
  return !otherwise;
}

/* What is done here counts once per path: first the usual case. libc's own end would have nothing to flush,
 * but look for it. */
void p3_end_in_klee(void) {
  if (decides_quickly && ended_alike())
    _exit(-(p3_states[0].value != 0) & status_of_all);
  p3_checks_run();
  p3_checks_say();
  _exit(p3_config.status >= 0 ? p3_states[p3_config.status].value : p3_combined_status);
}

static void prepare_end_in_klee(void) {
  p3_living = (1u << p3_count) - 1;
  last = &p3_states[p3_count - 1];
  decides_quickly = p3_checks & P3_CHECK_STATUS && p3_config.status == P3_NOBODY;
  compares_output = p3_checks & P3_CHECK_OUTPUT;
  status_of_all = p3_count <= 7 ? (1 << p3_count) - 1 : 1;
}

int main(int argc, char **argv, char **envp) {
  p3_look_for_klee();
  p3_config_read(envp);
  prepare_end_in_klee();
  p3_rerun_start(argv, envp);
  p3_fds_init();
  p3_config_redirect_reports();
  p3_config_open_outdir();
  p3_switch_init();
  p3_rerun_streams();
  p3_captures_init();
  p3_sites_init();
  p3_rerun_captures();
  p3_input_init();
  p3_process_start();
  if (!p3_in_klee())
    on_exit(exited_outside, NULL);
  for (int i = 0; i < p3_count; i++)
    p3_versions[i]->init(argc, copy_list(argv), copy_environment(envp));
  p3_run_versions();
  if (p3_in_klee())
    p3_end_in_klee();
  p3_process_stop();
  p3_checks_run();
  if (p3_config.outdir >= 0)
    p3_report_write();
  p3_checks_say();
  if (p3_config.status >= 0)
    end_as(p3_config.status);
  return p3_combined_status;
}
