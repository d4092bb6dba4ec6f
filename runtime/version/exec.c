/* Becoming another program.
 *
 * A forked child really does. In the product's own process the other versions still have to run: there a
 * child becomes the program, and the version waits for it and ends as it did. The program finds descriptors,
 * signals, limits, directory and environment as it would alone; only its process number is another one. */
#include "p3v_process.h"
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char **p3v_environ(void) { return P3_ME->environ_slot ? *P3_ME->environ_slot : environ; }

void p3v_become(const char *path, char *const *arguments, char *const *environment, bool search) {
  char space[P3_FD_PATH];
  p3_enter(p3v_index);
  p3_pump_attach(p3v_index);
  p3_relay_attach(p3v_index);
  p3v_alarm_hand_over();
  p3_signals_exec(p3v_index, true);
  p3_fd_arrange(p3v_index);
  if (search)
    execvpe(path, arguments, environment);
  else
    execve(p3_fd_path(p3v_index, path, space), arguments, environment);
  int error = errno;
  p3_signals_exec(p3v_index, false);
  errno = error;
}

/* While the child stands for the version, it gets the signals that the version would get. */
static pid_t substitute;

static void pass_on(int signal) {
  int saved = errno;
  kill(substitute, signal);
  errno = saved;
}

static void pass_signals_on(void) {
  for (int signal = 1; signal <= SIGRTMAX; signal++) {
    struct p3_disposition now, pass = {.handler = pass_on, .flags = SA_RESTART};
    sigemptyset(&pass.mask);
    if (p3_signal_is_fatal(signal) && p3_signal_set(p3v_index, signal, NULL, &now) == 0 &&
        now.handler != SIG_IGN)
      p3_signal_set(p3v_index, signal, &pass, NULL);
  }
  sigset_t none;
  sigemptyset(&none);
  p3_signal_mask(p3v_index, SIG_SETMASK, &none, NULL);
}

static void end_like(pid_t child) {
  siginfo_t info;
  while (p3_wait(p3v_index, P_PID, (id_t)child, &info, WEXITED, NULL) != 0)
    if (errno != EINTR) {
      SHIM(_exit)(127);
      return;
    }
  p3v_files_discard();
  if (info.si_code == CLD_EXITED)
    p3v_die_at_once(P3_EXITED, info.si_status & 0xff);
  else
    p3v_die_at_once(P3_SIGNALED, info.si_status);
}

/* In the product's own process. Returns if the program could not be started. */
static void become_child(const char *path, char *const *arguments, char *const *environment, bool search) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0)
    return;
  report[0] = p3_fd_hide(report[0]);
  report[1] = p3_fd_hide(report[1]);
  struct p3_disposition before = {.handler = SIG_DFL}, no_child = {.handler = SIG_DFL};
  sigemptyset(&no_child.mask);
  /* If SIGCHLD is ignored, the kernel does not keep the child's status. */
  p3_signal_set(p3v_index, SIGCHLD, &no_child, &before);
  pid_t child = p3_fork(p3v_index);
  if (child == 0) {
    if (before.handler == SIG_IGN)
      p3_signal_set(p3v_index, SIGCHLD, &before, NULL);
    p3v_become(path, arguments, environment, search);
    int error = errno;
    (void)!write(report[1], &error, sizeof error);
    _exit(127);
  }
  int error = errno;
  close(report[1]);
  if (child > 0) {
    ssize_t got;
    int reason;
    while ((got = read(report[0], &reason, sizeof reason)) < 0 && errno == EINTR)
      ;
    if (got <= 0) {
      close(report[0]);
      substitute = child;
      pass_signals_on();
      end_like(child);
      return;
    }
    error = reason;
    siginfo_t info;
    while (p3_wait(p3v_index, P_PID, (id_t)child, &info, WEXITED, NULL) != 0 && errno == EINTR)
      ;
  }
  close(report[0]);
  p3_signal_set(p3v_index, SIGCHLD, &before, NULL);
  errno = error;
}

static int execute(const char *path, char *const *arguments, char *const *environment, bool search) {
  if (p3_in_klee())
    return search ? execvpe(path, arguments, environment) : execve(path, arguments, environment);
  if (p3_only >= 0)
    p3v_become(path, arguments, environment, search);
  else
    become_child(path, arguments, environment, search);
  return -1;
}

int SHIM(execve)(const char *path, char *const arguments[], char *const environment[]) {
  return execute(path, arguments, environment, false);
}

int SHIM(execv)(const char *path, char *const arguments[]) {
  return execute(path, arguments, p3v_environ(), false);
}

int SHIM(execvp)(const char *file, char *const arguments[]) {
  return execute(file, arguments, p3v_environ(), true);
}

int SHIM(execvpe)(const char *file, char *const arguments[], char *const environment[]) {
  return execute(file, arguments, environment, true);
}

int SHIM(fexecve)(int fd, char *const arguments[], char *const environment[]) {
  char path[P3_FD_PATH];
  int real = p3_fd_real(p3v_index, fd);
  if (real < 0 || !arguments || !environment) {
    errno = real < 0 ? EBADF : EINVAL;
    return -1;
  }
  if (p3_in_klee())
    return fexecve(real, arguments, environment);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return execute(path, arguments, environment, false);
}

int SHIM(execveat)(int directory, const char *path, char *const arguments[], char *const environment[],
                   int flags) {
  if (*path == '/' || directory == AT_FDCWD)
    return execute(path, arguments, environment, false);
  if (!*path && flags & AT_EMPTY_PATH)
    return SHIM(fexecve)(directory, arguments, environment);
  int real = p3_fd_real(p3v_index, directory);
  if (real < 0)
    return -1;
  char *whole = malloc(strlen(path) + P3_FD_PATH);
  if (!whole)
    return -1;
  sprintf(whole, "/proc/self/fd/%d/%s", directory, path);
  int result = execute(whole, arguments, environment, false);
  int error = errno;
  free(whole);
  errno = error;
  return result;
}

/* The arguments of execl and its relatives as a list, in the caller's frame. */
#define COLLECT(first, list)                                                                                 \
  va_list arguments;                                                                                         \
  size_t count = 1;                                                                                          \
  va_start(arguments, first);                                                                                \
  while (va_arg(arguments, char *))                                                                          \
    count++;                                                                                                 \
  va_end(arguments);                                                                                         \
  char **list = alloca((count + 1) * sizeof *list);                                                          \
  va_start(arguments, first);                                                                                \
  list[0] = (char *)first;                                                                                   \
  for (size_t i = 1; first && i <= count; i++)                                                               \
  list[i] = va_arg(arguments, char *)

int SHIM(execl)(const char *path, const char *first, ...) {
  COLLECT(first, list);
  va_end(arguments);
  return execute(path, list, p3v_environ(), false);
}

int SHIM(execlp)(const char *file, const char *first, ...) {
  COLLECT(first, list);
  va_end(arguments);
  return execute(file, list, p3v_environ(), true);
}

int SHIM(execle)(const char *path, const char *first, ...) {
  COLLECT(first, list);
  char **environment = va_arg(arguments, char **);
  va_end(arguments);
  return execute(path, list, environment, false);
}
