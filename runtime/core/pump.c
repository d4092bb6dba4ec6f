/* The standard input, and other logged pipes, of other programs that a version starts.
 *
 * Where the product's input can be read only once (input.c), such a program cannot have the real descriptor:
 * it would miss what the log already has, and what it read the other versions would never see. So it gets a
 * pipe, and a process of its own, the pump, fills that with the rest of the log and then with what it reads
 * on, into the log, too. It reads on only when somebody waits for it, since the version may want to read the
 * next line itself, and gives back what is left in the pipe when nobody can read it any more.
 *
 * Not on a terminal: programs want to be on one, and people can type twice. */
#include "process.h"
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 8 /* of processes started by processes */

/* Pumps that are at work, shared by all processes. */
static _Atomic int *active;

void p3_pump_start(void) {
  void *map =
      mmap(NULL, P3_MAX_VERSIONS * sizeof *active, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  active = map == MAP_FAILED ? NULL : map;
}

static void sleep_for(long microseconds) { nanosleep(&(struct timespec){0, microseconds * 1000}, NULL); }

void p3_pump_settle(int version) {
  for (int tries = 0; active && atomic_load(&active[version]) > 0 && tries < 50; tries++)
    sleep_for(1000);
}

/* ---- the pump ---- */

static int waiting_bytes(int pipe) {
  int count = 0;
  return ioctl(pipe, FIONREAD, &count) == 0 ? count : 0;
}

static bool has_reader(int pipe) {
  struct pollfd poll_it = {.fd = pipe, .events = POLLOUT};
  return poll(&poll_it, 1, 0) < 1 || !(poll_it.revents & POLLERR);
}

static ssize_t read_file(const char *path, char *text, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return -1;
  ssize_t got = read(file, text, size - 1);
  close(file);
  text[got > 0 ? got : 0] = 0;
  return got;
}

static bool is_pipe(pid_t process, unsigned long fd, ino_t pipe) {
  char path[64];
  struct stat stat_of;
  snprintf(path, sizeof path, "/proc/%d/fd/%lu", process, fd);
  return stat(path, &stat_of) == 0 && stat_of.st_ino == pipe;
}

/* Whether the process, or one that it started, waits for input from the pipe, as far as one can see. */
static bool is_wanted_by(pid_t process, ino_t pipe, int depth) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/syscall", process);
  if (read_file(path, text, sizeof text) < 0)
    return errno != ENOENT && errno != ESRCH;
  if (text[0] >= '0' && text[0] <= '9') {
    char *end;
    long call = strtol(text, &end, 10);
    unsigned long argument = strtoul(end, NULL, 16);
    switch (call) {
    case 0:   /* read */
    case 19:  /* readv */
    case 275: /* splice */
    case 295: /* preadv */
    case 327: /* preadv2 */
      if (is_pipe(process, argument, pipe))
        return true;
      break;
    case 40:  /* sendfile */
    case 7:   /* poll */
    case 23:  /* select */
    case 270: /* pselect6 */
    case 271: /* ppoll */
    case 232: /* epoll_wait */
    case 281: /* epoll_pwait */
      return true;
    }
  }
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, process);
  if (depth == DEPTH || read_file(path, text, sizeof text) < 0)
    return depth != DEPTH && errno == EACCES;
  char *end = text;
  for (long child; (child = strtol(end, &end, 10)) > 0;)
    if (is_wanted_by((pid_t)child, pipe, depth + 1))
      return true;
  return false;
}

static void wait_for_demand(int pipe, pid_t program) {
  struct stat stat;
  ino_t number = fstat(pipe, &stat) == 0 ? stat.st_ino : 0;
  for (long pause = 50; has_reader(pipe); pause = pause < 4000 ? 2 * pause : pause) {
    if (waiting_bytes(pipe) == 0 && is_wanted_by(program, number, 0))
      return;
    sleep_for(pause);
  }
}

/* False: nobody reads any more; the rest was given back. */
static bool put(int version, int log, int pipe, const char *bytes, size_t size) {
  while (size) {
    ssize_t done = write(pipe, bytes, size);
    if (done < 0 && errno != EINTR) {
      p3_log_unread(version, log, size);
      return false;
    }
    if (done > 0) {
      bytes += done;
      size -= (size_t)done;
    }
  }
  return true;
}

static void pump(int version, int log, int pipe, pid_t program) {
  static char bytes[1 << 14];
  for (;;) {
    off_t pending = p3_log_pending(version, log);
    if (pending == 0) {
      struct pollfd both[2] = {{.fd = p3_logs[log]->real, .events = POLLIN}, {.fd = pipe}};
      /* Not for long: others may get what comes, and then it is in the log. */
      if (poll(both, 2, 20) == 0)
        continue;
      if (!both[1].revents)
        wait_for_demand(pipe, program);
      if (!has_reader(pipe))
        return;
    }
    size_t size = pending > 0 && pending < (off_t)sizeof bytes ? (size_t)pending : sizeof bytes;
    ssize_t got = p3_log_read(version, log, bytes, size);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (got <= 0)
      break;
    if (!put(version, log, pipe, bytes, (size_t)got))
      return;
  }
  /* At the end. The pipe stays open until it is empty, so that what is left can be told. */
  while (has_reader(pipe) && waiting_bytes(pipe) > 0)
    sleep_for(1000);
}

static void close_all_but(int version, int log, int pipe) {
  const int kept[4] = {pipe, p3_logs[log]->real, p3_logs[log]->append, p3_logs[log]->cursors[version]};
  long limit = sysconf(_SC_OPEN_MAX);
  for (int fd = 0; fd < limit && fd < 65536; fd++)
    if (fd != kept[0] && fd != kept[1] && fd != kept[2] && fd != kept[3])
      close(fd);
}

static void start(int version, int log, int pipe) {
  pid_t program = getpid();
  if (active)
    atomic_fetch_add(&active[version], 1);
  if (p3_fork_apart() != 0)
    return;
  close_all_but(version, log, pipe);
  pump(version, log, pipe, program);
  p3_log_unread(version, log, (size_t)waiting_bytes(pipe));
  if (active)
    atomic_fetch_sub(&active[version], 1);
  _exit(0);
}

/* Nothing is or ever will be in it, so that it can be shared. */
static bool is_exhausted(int version, int log) {
  const struct stat *stat = &p3_logs[log]->stat;
  if (S_ISCHR(stat->st_mode) && stat->st_rdev == makedev(1, 3))
    return true;
  struct pollfd poll_it = {.fd = p3_logs[log]->real, .events = POLLIN};
  return p3_log_pending(version, log) == 0 && poll(&poll_it, 1, 0) == 1 && !(poll_it.revents & POLLIN) &&
         poll_it.revents & POLLHUP;
}

/* All descriptors of the log become that of a pipe. */
static void attach(int version, int log) {
  bool needed = false;
  for (int fd = 0; (fd = p3_fd_next(version, fd)) >= 0; fd++)
    needed |= p3_fd_log(version, fd) == log && p3_fd_get_cloexec(version, fd) == 0;
  int ends[2];
  if (!needed || p3_logs[log]->tty || is_exhausted(version, log) || pipe2(ends, O_CLOEXEC) != 0)
    return;
  ends[1] = p3_fd_hide(ends[1]);
  start(version, log, ends[1]);
  close(ends[1]);
  int end = p3_fd_install(version, ends[0], 0);
  for (int fd = 0; end >= 0 && (fd = p3_fd_next(version, fd)) >= 0; fd++)
    if (p3_fd_log(version, fd) == log)
      p3_fd_dup2(version, end, fd, p3_fd_get_cloexec(version, fd));
  p3_fd_close(version, end);
}

void p3_pump_attach(int version) {
  for (int log = 0; log < P3_LOGS; log++)
    if (p3_logs[log] && p3_logs[log]->append >= 0)
      attach(version, log);
}
