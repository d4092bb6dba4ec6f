/* FIFOs that versions open by name, and other pipes that the product was started with.
 *
 * Opened for reading, a FIFO gets a log (input.c): the version that opens it for the k-th time before the others
 * really opens it, and waits for a writer if it has to; those that come to their k-th time later are given what that
 * one was. Opened for writing, it gets what one version writes, the shown one (else the first); what the others write
 * goes nowhere. The real descriptor is closed as soon as no version has it open that needs it, and none lags behind:
 * before that the other side would be told that nobody is there. If a version opens a FIFO again whose other side is
 * still the same, it goes on in the same log. If the other side has gone by itself the FIFO is left at once, with the
 * rest of what it had in the log, so that the next to open it waits for another one there, as alone.
 *
 * All that is for a FIFO whose other end is somebody else's. One that a version has made, one that is opened in both
 * directions, and one that is opened while children of the version run stay what they are; as are those that children
 * open, which do not know of each other. */
#include "process.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READ = 1, WRITTEN = 2, MADE = 4 };

/* ---- what is known of a FIFO ---- */

static bool is_same(const struct stat *stat, dev_t device, ino_t inode) {
  return stat->st_dev == device && stat->st_ino == inode;
}

static unsigned uses_of(const struct stat *stat) {
  unsigned uses = 0, count = atomic_load(&p3_shared->fifo_count);
  for (unsigned i = 0; i < count && i < P3_FIFOS; i++)
    if (is_same(stat, p3_shared->fifos[i].device, p3_shared->fifos[i].inode))
      uses |= p3_shared->fifos[i].uses;
  return uses;
}

static void note(const struct stat *stat, unsigned use) {
  if ((uses_of(stat) & use) == use)
    return;
  unsigned at = atomic_fetch_add(&p3_shared->fifo_count, 1);
  if (at < P3_FIFOS)
    p3_shared->fifos[at] = (struct p3_fifo){stat->st_dev, stat->st_ino, use};
  else
    atomic_store(&p3_shared->fifo_count, P3_FIFOS);
}

void p3_fifo_made(int directory, const char *path) {
  struct stat stat;
  int saved = errno;
  if (!p3_in_klee() && fstatat(directory, path, &stat, AT_SYMLINK_NOFOLLOW) == 0 && S_ISFIFO(stat.st_mode))
    note(&stat, MADE);
  errno = saved;
}

bool p3_fifo_is_common(int version, const struct stat *found, int flags) {
  if (!S_ISFIFO(found->st_mode) || p3_in_klee() || p3_is_harness || flags & (O_PATH | O_DIRECTORY) ||
      (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
    return false;
  int access = flags & O_ACCMODE;
  unsigned use = access == O_RDONLY ? READ : access == O_WRONLY ? WRITTEN : READ | WRITTEN;
  note(found, use);
  return access != O_RDWR && uses_of(found) == use && p3_only < 0 && !p3_has_children(version);
}

/* ---- who needs a log ---- */

bool p3_log_is_writer(int version) { return version == (p3_config.show > 0 ? p3_config.show : 0); }

static bool is_written(const struct p3_log *log) { return log->append < 0; }

static bool is_open(int number, int version) {
  for (int fd = -1; (fd = p3_fd_next(version, fd + 1)) >= 0;)
    if (p3_fd_log(version, fd) == number)
      return true;
  return false;
}

/* Others have opened it more often. Children do not open it. */
static bool is_awaited(const struct p3_log *log, int version) {
  return p3_only < 0 && log->opens[version] < log->most && !p3_has_ended(version);
}

static bool needs_real(const struct p3_log *log, int version) {
  return !is_written(log) || p3_log_is_writer(version);
}

/* From now on something stands in for the FIFO that says the same of itself to those who still come: that it has ended,
 * or that it takes everything. */
static void let_go(struct p3_log *log) {
  int ends[2] = {-1, -1};
  if (is_written(log))
    ends[0] = open("/dev/null", O_WRONLY | O_CLOEXEC);
  else if (pipe2(ends, O_CLOEXEC) == 0)
    close(ends[1]);
  if (ends[0] < 0)
    return;
  log->is_over = dup3(ends[0], log->real, O_CLOEXEC) >= 0;
  close(ends[0]);
}

/* After it was closed or may have ended. With the lock. */
static void review(int number) {
  struct p3_log *log = p3_logs[number];
  bool wanted = false, open = false, needed = false;
  if (!log || log->real < 0 || atomic_load(&log->busy))
    return;
  for (int i = 0; i < p3_count; i++) {
    bool is_open_there = is_open(number, i), is_wanted = is_open_there || is_awaited(log, i);
    wanted |= is_wanted;
    open |= is_open_there && needs_real(log, i);
    needed |= is_wanted && needs_real(log, i);
  }
  if (!wanted)
    p3_log_drop(number);
  else if (!open && !log->is_over && (!needed || (!is_written(log) && p3_log_complete(number))))
    let_go(log);
}

void p3_log_left(int version, int number) {
  if (number == P3_INPUT_LOG)
    return;
  int saved = errno;
  struct p3_guard guard;
  p3_lock(&guard);
  if (!is_open(number, version))
    review(number);
  p3_unlock(&guard);
  errno = saved;
}

void p3_fifo_review(void) {
  struct p3_guard guard;
  p3_lock(&guard);
  for (int i = P3_INPUT_LOG + 1; i < P3_LOGS; i++)
    review(i);
  p3_unlock(&guard);
}

/* ---- opening ---- */

static bool is_of(const struct p3_log *log, const struct stat *fifo, int flags) {
  return log && log->real >= 0 && log->is_named && is_same(fifo, log->stat.st_dev, log->stat.st_ino) &&
         is_written(log) == ((flags & O_ACCMODE) == O_WRONLY);
}

/* What others were given when they opened the FIFO as often as the version is about to; -1: nobody has. With the
 * lock. */
static int next(int version, const struct stat *fifo, int flags) {
  int found = -1;
  for (int i = P3_INPUT_LOG + 1; i < P3_LOGS; i++)
    if (is_of(p3_logs[i], fifo, flags) && p3_logs[i]->opens[version] < p3_logs[i]->most &&
        (found < 0 || p3_logs[i]->serial < p3_logs[found]->serial))
      found = i;
  return found;
}

/* The log that goes on when the FIFO is opened once more, since those at its other side are still there; -1: none. What
 * is kept for versions that lag behind keeps the FIFO open, too: somebody may have written who would have had to wait
 * alone, and has gone. With the lock. */
static int same_again(const struct stat *fifo, int flags) {
  int newest = -1;
  for (int i = P3_INPUT_LOG + 1; i < P3_LOGS; i++)
    if (is_of(p3_logs[i], fifo, flags) && (newest < 0 || p3_logs[i]->serial > p3_logs[newest]->serial))
      newest = i;
  if (newest < 0 || p3_logs[newest]->is_over)
    return -1;
  const struct p3_log *log = p3_logs[newest];
  bool open = false;
  for (int i = 0; i < p3_count; i++)
    open |= is_open(newest, i);
  struct pollfd poll_it = {.fd = log->real, .events = POLLIN};
  int events = poll(&poll_it, 1, 0) == 1 ? poll_it.revents : 0;
  if (is_written(log) || open)
    return events & (is_written(log) ? POLLERR : POLLHUP) ? -1 : newest;
  if (!(events & POLLIN))
    review(newest);
  return log->real >= 0 && !log->is_over ? newest : -1;
}

/* The version has opened it, and has no descriptor yet: until it has one the log is busy, since a version that closes
 * its own meanwhile would find nobody who needs the log. With the lock. */
static void join(int version, int number, int flags) {
  struct p3_log *log = p3_logs[number];
  atomic_fetch_add(&log->busy, 1);
  if (++log->opens[version] > log->most)
    log->most = log->opens[version];
  log->shared->nonblock[version] = flags & O_NONBLOCK;
}

/* After join. `real`: the version's own, which is used up; -1: it has not opened the FIFO itself. */
static int descriptor(int version, int number, int flags, int real) {
  struct p3_log *log = p3_logs[number];
  int command = flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD;
  if (real >= 0 && !needs_real(log, version)) {
    close(real);
    real = -1;
  }
  if (real < 0)
    real = needs_real(log, version) ? fcntl(log->real, command, 3)
                                    : open("/dev/null", O_WRONLY | (flags & O_CLOEXEC));
  int fd = p3_fd_install_log(version, real, number), error = errno;
  struct p3_guard guard;
  p3_lock(&guard);
  atomic_fetch_sub(&log->busy, 1);
  review(number);
  p3_unlock(&guard);
  errno = error;
  return fd;
}

/* Threads that are opening FIFOs. While those of one version do, those of another one wait: what that one gets may be
 * for them, too, and whom it waits for may not come a second time. */
#define OPENINGS 32
static struct opening {
  pid_t thread; /* 0: free */
  int version;
  bool written;
  dev_t device;
  ino_t inode;
} openings[OPENINGS];
/* Counted up whenever one has ended. */
static _Atomic unsigned changes;

static bool is_opened_by_others(int version, const struct stat *fifo, int flags) {
  pid_t me = (pid_t)syscall(SYS_gettid); /* may have left one by a jump */
  for (int i = 0; i < OPENINGS; i++)
    if (openings[i].thread && openings[i].thread != me && openings[i].version != version &&
        openings[i].written == ((flags & O_ACCMODE) == O_WRONLY) &&
        is_same(fifo, openings[i].device, openings[i].inode))
      return true;
  return false;
}

static void begin(int version, const struct stat *fifo, int flags) {
  for (int i = 0; i < OPENINGS; i++)
    if (!openings[i].thread) {
      openings[i] = (struct opening){(pid_t)syscall(SYS_gettid), version, (flags & O_ACCMODE) == O_WRONLY,
                                     fifo->st_dev, fifo->st_ino};
      return;
    }
}

void p3_fifo_unlock(void) {
  pid_t me = (pid_t)syscall(SYS_gettid);
  for (int i = 0; i < OPENINGS; i++)
    if (openings[i].thread == me) {
      openings[i].thread = 0;
      atomic_fetch_add(&changes, 1);
      syscall(SYS_futex, &changes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    }
}

void p3_fifo_forked(void) {
  for (int i = 0; i < OPENINGS; i++)
    openings[i].thread = 0;
}

/* Whether the version has to open the FIFO itself; else `number` is what others have, or -1 and EINTR. */
static bool must_open(int version, const struct stat *fifo, int flags, int *number) {
  for (;;) {
    unsigned seen = atomic_load(&changes);
    struct p3_guard guard;
    p3_lock(&guard);
    *number = next(version, fifo, flags);
    bool wait = *number < 0 && !(flags & O_NONBLOCK) && is_opened_by_others(version, fifo, flags);
    if (*number < 0 && !wait)
      *number = same_again(fifo, flags);
    if (*number >= 0)
      join(version, *number, flags);
    else if (!wait)
      begin(version, fifo, flags);
    p3_unlock(&guard);
    if (!wait)
      return *number < 0;
    if (syscall(SYS_futex, &changes, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0) != 0 && errno == EINTR)
      return false;
  }
}

/* The version has opened it as `real`, which is used up. Its log, -1: there is none for it. */
static int take(int version, int *real, int flags) {
  struct stat stat;
  if (*real < 0 || fstat(*real, &stat) != 0 || !S_ISFIFO(stat.st_mode))
    return -1;
  int number = next(version, &stat, flags);
  if (number >= 0) { /* another thread was quicker */
    close(*real);
    *real = -1;
  } else {
    number = p3_log_make(p3_fd_hide(fcntl(*real, F_DUPFD_CLOEXEC, 3)), &stat, true, (flags & O_ACCMODE) == O_WRONLY);
  }
  if (number >= 0) {
    join(version, number, flags);
    p3_log_adjust(number, version);
  }
  return number;
}

int p3_fifo_open(int version, const struct stat *found, int directory, const char *path, int flags) {
  int number, saved = errno;
  if (!must_open(version, found, flags, &number))
    return number < 0 ? -1 : descriptor(version, number, flags, -1);
  p3_touch(version);
  int real = openat(directory, path, flags), error = real < 0 ? errno : saved;
  struct p3_guard guard;
  p3_lock(&guard);
  number = take(version, &real, flags);
  p3_fifo_unlock();
  p3_unlock(&guard);
  errno = error;
  return number < 0 ? p3_fd_install(version, real, 0) : descriptor(version, number, flags, real);
}

/* ---- inherited ones ---- */

/* The pipe's other end is inherited, too, as that of make's jobserver: what is read there is put back there. */
static bool is_written_here(const struct stat *pipe) {
  struct stat stat;
  for (int fd = -1; (fd = p3_fd_next(0, fd + 1)) >= 0;) {
    int real = p3_fd_source(p3_fd_entry(0, fd));
    if (fstat(real, &stat) == 0 && is_same(pipe, stat.st_dev, stat.st_ino) &&
        (fcntl(real, F_GETFL) & O_ACCMODE) != O_RDONLY)
      return true;
  }
  return false;
}

/* All versions have it from the beginning on. */
static void inherit(int fd) {
  struct stat stat;
  int real = p3_fd_real(0, fd);
  if (fstat(real, &stat) != 0 || !S_ISFIFO(stat.st_mode) || (fcntl(real, F_GETFL) & O_ACCMODE) != O_RDONLY ||
      is_written_here(&stat))
    return;
  int number = p3_log_inherited(&stat);
  if (number < 0)
    number = p3_log_make(p3_fd_hide(fcntl(real, F_DUPFD_CLOEXEC, 3)), &stat, false, false);
  for (int i = 0; number >= 0 && i < p3_count; i++) {
    struct p3_entry *entry = p3_fd_entry(i, fd);
    if (!entry)
      continue;
    entry->kind = P3_LOG;
    entry->stream = number;
    p3_logs[number]->opens[i] = p3_logs[number]->most = 1;
  }
}

void p3_fifo_inherit(void) {
  for (int fd = 2; (fd = p3_fd_next(0, fd + 1)) >= 0;)
    inherit(fd);
}
