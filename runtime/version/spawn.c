/* Starting other programs: posix_spawn and system.
 *
 * File actions are kept in a form of our own, since they name the version's descriptors and must be carried
 * out on its table, in the child. */
#include "p3v_process.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- file actions ---- */

enum kind { OPEN, CLOSE, DUP2, CHDIR, FCHDIR, CLOSE_FROM, FOREGROUND };

struct action {
  struct action *next;
  enum kind kind;
  int fd, other;
  int flags;
  mode_t mode;
  char path[];
};

/* What the program's posix_spawn_file_actions_t holds. */
struct actions {
  struct action *first;
};
_Static_assert(sizeof(struct actions) <= sizeof(posix_spawn_file_actions_t), "room for our own form");

static struct actions *ours(const posix_spawn_file_actions_t *actions) { return (struct actions *)actions; }

int SHIM(posix_spawn_file_actions_init)(posix_spawn_file_actions_t *actions) {
  memset(actions, 0, sizeof *actions);
  return 0;
}

int SHIM(posix_spawn_file_actions_destroy)(posix_spawn_file_actions_t *actions) {
  for (struct action *action = ours(actions)->first, *next; action; action = next) {
    next = action->next;
    free(action);
  }
  memset(actions, 0, sizeof *actions);
  return 0;
}

static int add(posix_spawn_file_actions_t *actions, struct action what, const char *path) {
  struct actions *list = ours(actions);
  if (what.fd < 0 || what.other < 0 || what.fd >= SHIM(sysconf)(_SC_OPEN_MAX))
    return EBADF;
  size_t size = path ? strlen(path) + 1 : 0;
  struct action *action = malloc(sizeof *action + size);
  if (!action)
    return ENOMEM;
  *action = what;
  if (path)
    memcpy(action->path, path, size);
  struct action **link = &list->first;
  while (*link)
    link = &(*link)->next;
  *link = action;
  return 0;
}

int SHIM(posix_spawn_file_actions_addopen)(posix_spawn_file_actions_t *restrict actions, int fd,
                                           const char *restrict path, int flags, mode_t mode) {
  return add(actions, (struct action){.kind = OPEN, .fd = fd, .flags = flags, .mode = mode}, path);
}

int SHIM(posix_spawn_file_actions_addclose)(posix_spawn_file_actions_t *actions, int fd) {
  return add(actions, (struct action){.kind = CLOSE, .fd = fd}, NULL);
}

int SHIM(posix_spawn_file_actions_adddup2)(posix_spawn_file_actions_t *actions, int fd, int new) {
  return add(actions, (struct action){.kind = DUP2, .fd = fd, .other = new}, NULL);
}

int SHIM(posix_spawn_file_actions_addchdir_np)(posix_spawn_file_actions_t *restrict actions,
                                               const char *restrict path) {
  return add(actions, (struct action){.kind = CHDIR}, path);
}

int SHIM(posix_spawn_file_actions_addfchdir_np)(posix_spawn_file_actions_t *actions, int fd) {
  return add(actions, (struct action){.kind = FCHDIR, .fd = fd}, NULL);
}

int SHIM(posix_spawn_file_actions_addclosefrom_np)(posix_spawn_file_actions_t *actions, int fd) {
  return add(actions, (struct action){.kind = CLOSE_FROM, .fd = fd}, NULL);
}

int SHIM(posix_spawn_file_actions_addtcsetpgrp_np)(posix_spawn_file_actions_t *actions, int fd) {
  return add(actions, (struct action){.kind = FOREGROUND, .fd = fd}, NULL);
}

static int open_as(const struct action *action) {
  char space[P3_FD_PATH];
  /* As open would: closed first, then under exactly this number. */
  p3_fd_close(p3v_index, action->fd);
  int real = open(p3_fd_path(p3v_index, action->path, space), action->flags, action->mode);
  int fd = p3_fd_install(p3v_index, real, action->fd);
  if (fd < 0 || fd == action->fd)
    return fd;
  int result = p3_fd_dup2(p3v_index, fd, action->fd, false);
  p3_fd_close(p3v_index, fd);
  return result;
}

static int carry_out(const struct action *action) {
  switch (action->kind) {
  case OPEN:
    return open_as(action);
  case CLOSE:
    /* That it is not open is no error. */
    p3_fd_close(p3v_index, action->fd);
    return 0;
  case DUP2:
    return action->fd == action->other ? p3_fd_set_cloexec(p3v_index, action->fd, false)
                                       : p3_fd_dup2(p3v_index, action->fd, action->other, false);
  case CHDIR:
    return p3_chdir(p3v_index, action->path, -1);
  case FCHDIR:
    return p3_chdir(p3v_index, NULL, p3_fd_real(p3v_index, action->fd));
  case CLOSE_FROM:
    p3_fd_close_range(p3v_index, (unsigned)action->fd, ~0u);
    return 0;
  case FOREGROUND:
    return tcsetpgrp(p3_fd_meta(p3v_index, action->fd), getpgrp());
  }
  return 0;
}

/* ---- in the child ---- */

static int set_attributes(const posix_spawnattr_t *attributes) {
  short flags;
  pid_t group;
  struct sched_param parameters;
  int policy;
  sigset_t set;
  posix_spawnattr_getflags(attributes, &flags);
  posix_spawnattr_getsigdefault(attributes, &set);
  for (int signal = 1; signal <= SIGRTMAX; signal++) {
    struct p3_disposition normal = {.handler = SIG_DFL};
    sigemptyset(&normal.mask);
    if (flags & POSIX_SPAWN_SETSIGDEF && sigismember(&set, signal) == 1)
      p3_signal_set(p3v_index, signal, &normal, NULL);
  }
  posix_spawnattr_getschedparam(attributes, &parameters);
  posix_spawnattr_getschedpolicy(attributes, &policy);
  if (flags & POSIX_SPAWN_SETSCHEDULER    ? sched_setscheduler(0, policy, &parameters) < 0
      : flags & POSIX_SPAWN_SETSCHEDPARAM ? sched_setparam(0, &parameters) < 0
                                          : false)
    return -1;
  if (flags & POSIX_SPAWN_SETSID && setsid() < 0)
    return -1;
  posix_spawnattr_getpgroup(attributes, &group);
  if (flags & POSIX_SPAWN_SETPGROUP && setpgid(0, p3v_real(group)) != 0)
    return -1;
  if (flags & POSIX_SPAWN_RESETIDS && (seteuid(getuid()) != 0 || setegid(getgid()) != 0))
    return -1;
  return 0;
}

static void set_mask(const posix_spawnattr_t *attributes) {
  short flags;
  sigset_t set;
  posix_spawnattr_getflags(attributes, &flags);
  posix_spawnattr_getsigmask(attributes, &set);
  if (flags & POSIX_SPAWN_SETSIGMASK)
    p3_signal_mask(p3v_index, SIG_SETMASK, &set, NULL);
}

/* Tries each directory of PATH. Unlike execvp, without a shell for what is no program. */
static void become_found(const char *file, char *const *arguments, char *const *environment) {
  p3_enter(p3v_index);
  const char *path = getenv("PATH");
  if (strchr(file, '/') || !path) {
    p3v_become(file, arguments, environment, !strchr(file, '/'));
    return;
  }
  bool denied = false;
  for (;;) {
    size_t length = strcspn(path, ":");
    char *whole = malloc(length + strlen(file) + 3);
    if (!whole)
      return;
    sprintf(whole, "%.*s%s%s", (int)length, path, length ? "/" : "", file);
    /* Arranging descriptors is for a program that is there. */
    if (access(whole, X_OK) == 0)
      p3v_become(whole, arguments, environment, false);
    free(whole);
    denied |= errno == EACCES;
    if (errno != EACCES && errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV)
      return;
    if (!path[length])
      break;
    path += length + 1;
  }
  errno = denied ? EACCES : ENOENT;
}

struct order {
  const char *path;
  const posix_spawn_file_actions_t *actions;
  const posix_spawnattr_t *attributes;
  char *const *arguments;
  char *const *environment;
  bool search;
};

static void begin(const struct order *order) {
  if (order->attributes && set_attributes(order->attributes) != 0)
    return;
  for (struct action *action = order->actions ? ours(order->actions)->first : NULL; action;
       action = action->next)
    if (carry_out(action) < 0)
      return;
  if (order->attributes)
    set_mask(order->attributes);
  if (order->search)
    become_found(order->path, order->arguments, order->environment);
  else
    p3v_become(order->path, order->arguments, order->environment, false);
}

static int spawn(pid_t *number, const struct order *order) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0)
    return errno;
  report[0] = p3_fd_hide(report[0]);
  report[1] = p3_fd_hide(report[1]);
  pid_t child = p3v_fork_plainly();
  if (child == 0) {
    begin(order);
    int error = errno;
    (void)!write(report[1], &error, sizeof error);
    _exit(127);
  }
  int error = child < 0 ? errno : 0;
  close(report[1]);
  ssize_t got = 0;
  if (child > 0)
    while ((got = read(report[0], &error, sizeof error)) < 0 && errno == EINTR)
      ;
  close(report[0]);
  if (got > 0)
    SHIM(waitpid)(child, NULL, 0);
  else if (child > 0 && number)
    *number = child;
  return got > 0 || child < 0 ? error : 0;
}

int SHIM(posix_spawn)(pid_t *restrict child, const char *restrict path,
                      const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *restrict attributes,
                      char *const arguments[restrict], char *const environment[restrict]) {
  if (p3_in_klee())
    return ENOSYS;
  struct order order = {path, actions, attributes, arguments, environment, false};
  return spawn(child, &order);
}

int SHIM(posix_spawnp)(pid_t *restrict child, const char *restrict file,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],
                       char *const environment[restrict]) {
  if (p3_in_klee())
    return ENOSYS;
  struct order order = {file, actions, attributes, arguments, environment, true};
  return spawn(child, &order);
}

/* ---- system ---- */

static void ignore_while(int signal, struct p3_disposition *before) {
  struct p3_disposition ignore = {.handler = SIG_IGN};
  sigemptyset(&ignore.mask);
  p3_signal_set(p3v_index, signal, &ignore, before);
}

int SHIM(system)(const char *command) {
  if (p3_in_klee())
    return system(command);
  if (!command)
    return SHIM(system)("exit 0") == 0;
  struct p3_disposition interrupt, quit;
  sigset_t block, mask;
  ignore_while(SIGINT, &interrupt);
  ignore_while(SIGQUIT, &quit);
  sigemptyset(&block);
  sigaddset(&block, SIGCHLD);
  p3_signal_mask(p3v_index, SIG_BLOCK, &block, &mask);
  pid_t child = p3v_fork_plainly();
  if (child == 0) {
    p3_signal_set(p3v_index, SIGINT, &interrupt, NULL);
    p3_signal_set(p3v_index, SIGQUIT, &quit, NULL);
    p3_signal_mask(p3v_index, SIG_SETMASK, &mask, NULL);
    char *arguments[] = {"sh", "-c", (char *)command, NULL};
    p3v_become("/bin/sh", arguments, p3v_environ(), false);
    _exit(127);
  }
  int status = -1;
  if (child > 0) {
    pid_t ended;
    while ((ended = SHIM(waitpid)(child, &status, 0)) < 0 && errno == EINTR)
      ;
    if (ended < 0)
      status = -1;
  }
  int error = errno;
  p3_signal_set(p3v_index, SIGINT, &interrupt, NULL);
  p3_signal_set(p3v_index, SIGQUIT, &quit, NULL);
  p3_signal_mask(p3v_index, SIG_SETMASK, &mask, NULL);
  errno = error;
  p3v_poll();
  return status;
}
