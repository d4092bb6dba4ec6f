/* What can be read only once: every version reads all of it, each with its own position.
 *
 * Standard input is the first of them. If it is a regular file or block device it is opened once more per
 * version; the shown version (else the first) keeps the product's own open file description, so that whoever
 * reads on after the product finds the position where that version left it. Anything else (pipe, terminal,
 * socket, character device) can be read only once: what is read goes into a log, a file without a name, and
 * each version has its own open file description of the log, whose offset is its position; a forked child
 * shares it, as it would share the pipe. Beyond the log a version reads from the real descriptor exactly what
 * it asks for, never more. One reader at a time is at the real descriptor, of all threads and processes: the
 * others would wait for what comes after that, and find it in the log in another order. Other pipes that are
 * inherited, and FIFOs that versions open (fifo.c), have logs of the same kind.
 *
 * On a terminal the replay keeps what the line discipline does: one line per read, and an end of file is seen
 * once at the place where it was typed. An end of a FIFO is seen as often as the first one saw it there: behind
 * it another writer may come. */
#include "core.h"
#include "process.h"
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

struct p3_log *p3_logs[P3_LOGS];
static unsigned last_serial;
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static int reopen(int fd, int flags) {
  char path[P3_FD_PATH];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return p3_fd_hide(open(path, flags | O_CLOEXEC));
}

static int duplicate(int fd) { return p3_fd_hide(fcntl(fd, F_DUPFD_CLOEXEC, 3)); }

/* Devices that give everyone the same, whenever and how often they are read: null, zero, full. */
static bool is_constant(const struct stat *stat) {
  return S_ISCHR(stat->st_mode) && major(stat->st_rdev) == 1 &&
         (minor(stat->st_rdev) == 3 || minor(stat->st_rdev) == 5 || minor(stat->st_rdev) == 7);
}

static bool can_reopen(const struct p3_original *original) {
  mode_t type = original->stat.st_mode & S_IFMT;
  return type == S_IFREG || type == S_IFBLK || type == S_IFDIR || is_constant(&original->stat);
}

static int open_again(const struct p3_original *original) {
  int fd = reopen(original->fd, original->flags & ~(O_CREAT | O_EXCL | O_TRUNC));
  if (fd < 0)
    return -1;
  lseek(fd, lseek(original->fd, 0, SEEK_CUR), SEEK_SET);
  return fd;
}

/* ---- making and dropping ---- */

/* The slot `number` without a log. Null: no memory. */
static struct p3_log *clear(int number) {
  struct p3_log *log = p3_logs[number];
  if (!log && !(log = p3_logs[number] = malloc(sizeof *log)))
    return NULL;
  *log = (struct p3_log){.real = -1, .append = -1, .cursors = {[0 ... P3_MAX_VERSIONS - 1] = -1}};
  return log;
}

/* False, and errno. */
static bool share(struct p3_log *log) {
  void *map =
      mmap(NULL, sizeof *log->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  log->shared = map == MAP_FAILED ? NULL : map;
  return log->shared;
}

/* A file, unless it has one, and every version's position in it. False, and errno. */
static bool give_file(struct p3_log *log) {
  if (log->append < 0) {
    int file = p3_temporary_file();
    log->append = file < 0 ? -1 : reopen(file, O_WRONLY | O_APPEND);
    if (file >= 0)
      close(file);
  }
  for (int i = 0; log->append >= 0 && i < p3_count; i++)
    if ((log->cursors[i] = reopen(log->append, O_RDONLY)) < 0)
      return false;
  return log->append >= 0;
}

static void close_one(int *fd) {
  if (*fd >= 0)
    p3_fd_discard(*fd);
  *fd = -1;
}

void p3_log_drop(int number) {
  struct p3_log *log = p3_logs[number];
  close_one(&log->real);
  close_one(&log->append);
  for (int i = 0; i < p3_count; i++)
    close_one(&log->cursors[i]);
  if (log->shared)
    munmap(log->shared, sizeof *log->shared);
  log->shared = NULL;
}

static int free_number(void) {
  for (int i = P3_INPUT_LOG + 1; i < P3_LOGS; i++)
    if (!p3_logs[i] || (p3_logs[i]->real < 0 && !p3_logs[i]->busy))
      return i;
  return -1;
}

int p3_log_make(int real, const struct stat *stat, bool is_named, bool is_written) {
  int number = real < 0 ? -1 : free_number();
  struct p3_log *log = number < 0 ? NULL : clear(number);
  if (!log)
    return -1;
  log->stat = *stat;
  log->flags = fcntl(real, F_GETFL) & ~O_NONBLOCK;
  log->is_named = is_named;
  log->serial = ++last_serial;
  if (share(log) && (is_written || give_file(log))) {
    log->real = real;
    return number;
  }
  p3_log_drop(number);
  return -1;
}

int p3_log_inherited(const struct stat *stat) {
  const struct p3_original *input = &p3_originals[P3_INPUT_LOG];
  if (input->fd >= 0 && input->stat.st_dev == stat->st_dev && input->stat.st_ino == stat->st_ino)
    return P3_INPUT_LOG;
  for (int i = P3_INPUT_LOG + 1; i < P3_LOGS; i++) {
    const struct p3_log *log = p3_logs[i];
    if (log && log->real >= 0 && !log->is_named && log->stat.st_dev == stat->st_dev &&
        log->stat.st_ino == stat->st_ino)
      return i;
  }
  return -1;
}

static void make_input_log(void) {
  struct p3_log *log = p3_logs[P3_INPUT_LOG];
  if (!log && !(log = clear(P3_INPUT_LOG)))
    p3_fatal("out of memory");
  log->real = p3_originals[P3_INPUT_LOG].fd;
  log->tty = p3_originals[P3_INPUT_LOG].tty;
  log->stat = p3_originals[P3_INPUT_LOG].stat;
  if (log->tty && !log->shared && !share(log))
    p3_fatal("out of memory");
  if (!give_file(log))
    p3_fatal("cannot make a temporary file for the standard input: %s", strerror(errno));
}

void p3_input_init(void) {
  const struct p3_original *original = &p3_originals[P3_INPUT_LOG];
  if (p3_in_klee()) {
    /* A duplicate has a position of its own there. */
    for (int i = 0; original->fd >= 0 && i < p3_count; i++)
      p3_fds_set(i, 0, (struct p3_entry){.real = dup(0)});
    return;
  }
  for (int i = P3_INPUT_LOG + 1; i < P3_LOGS; i++)
    if (p3_logs[i] && p3_logs[i]->append >= 0 && !give_file(p3_logs[i]))
      p3_fatal("cannot go on reading a FIFO: %s", strerror(errno));
  int first = p3_config.show > 0 ? p3_config.show : 0;
  bool log = original->fd >= 0 && !can_reopen(original);
  if (log)
    make_input_log();
  for (int i = 0; original->fd >= 0 && i < p3_count; i++) {
    int mine = log || i == first ? -1 : open_again(original);
    if (mine < 0)
      mine = duplicate(original->fd);
    p3_fds_set(i, 0, (struct p3_entry){.real = mine, .kind = log ? P3_LOG : P3_PLAIN, .stream = P3_INPUT_LOG});
  }
  p3_fifo_inherit();
}

/* ---- from one run to a second ---- */

bool p3_log_describe(int number, struct p3_log_record *record) {
  const struct p3_log *log = p3_logs[number];
  if (!log || log->real < 0)
    return false;
  *record = (struct p3_log_record){
      .number = number,
      .real = number == P3_INPUT_LOG ? -1 : log->real,
      .append = log->append,
      .is_named = log->is_named,
      .is_over = log->is_over,
      .serial = log->serial,
      .most = log->most,
      .written = log->written,
      .stat = log->stat,
      .flags = log->flags,
      .count = log->shared ? log->shared->count : 0,
  };
  return true;
}

void p3_log_resume(const struct p3_log_record *record, const off_t *ends) {
  struct p3_log *log = clear(record->number);
  if (!log || ((record->number != P3_INPUT_LOG || record->count) && !share(log)))
    p3_fatal("out of memory");
  p3_fd_keep(record->real);
  p3_fd_keep(record->append);
  log->append = record->append;
  log->is_named = record->is_named;
  log->is_over = record->is_over;
  log->again = record->written;
  log->stat = record->stat;
  log->flags = record->flags;
  log->serial = record->serial;
  log->most = record->most;
  if (last_serial < log->serial)
    last_serial = log->serial;
  if (record->count) {
    log->shared->count = record->count;
    memcpy(log->shared->at, ends, record->count * sizeof *ends);
  }
  log->real = record->real;
}

/* ---- reading ---- */

static off_t log_size(const struct p3_log *log) {
  struct stat stat;
  return fstat(log->append, &stat) == 0 ? stat.st_size : 0;
}

/* Whether the next thing for the version is an end of file; where the next one is. */
static off_t next_end(const struct p3_log *log, int version) {
  const struct p3_log_shared *shared = log->shared;
  return shared && shared->seen[version] < shared->count ? shared->at[shared->seen[version]] : -1;
}

off_t p3_log_pending(int version, int number) {
  const struct p3_log *log = p3_logs[number];
  if (log->append < 0)
    return 0;
  off_t at = lseek(log->cursors[version], 0, SEEK_CUR), size = log_size(log), end = next_end(log, version);
  if (end == at)
    return -1;
  return (end >= 0 && end < size ? end : size) - at;
}

void p3_log_unread(int version, int number, size_t size) {
  lseek(p3_logs[number]->cursors[version], -(off_t)size, SEEK_CUR);
}

static void append_all(const struct p3_log *log, const char *bytes, size_t size) {
  while (size) {
    ssize_t done = write(log->append, bytes, size);
    if (done < 0 && errno != EINTR)
      p3_fatal("cannot keep what was read from %s: %s", log == p3_logs[P3_INPUT_LOG] ? "the standard input" : "a pipe",
               strerror(errno));
    if (done > 0) {
      bytes += done;
      size -= done;
    }
  }
}

static void remember_end(struct p3_log_shared *shared, int version, off_t at) {
  if (shared->count < P3_ENDS)
    shared->at[shared->count++] = at;
  shared->seen[version] = shared->count;
}

/* From the log only; 0: nothing there. */
static ssize_t replay(struct p3_log *log, int version, char *bytes, size_t size) {
  int cursor = log->cursors[version];
  off_t at = lseek(cursor, 0, SEEK_CUR), end = next_end(log, version);
  if (end > at && (off_t)size > end - at)
    size = end - at;
  ssize_t done = read(cursor, bytes, size);
  struct termios terminal;
  if (done > 0 && log->tty && tcgetattr(log->real, &terminal) == 0 && terminal.c_lflag & ICANON) {
    char *newline = memchr(bytes, '\n', done);
    if (newline && newline + 1 < bytes + done) {
      lseek(cursor, newline + 1 - (bytes + done), SEEK_CUR);
      done = newline + 1 - bytes;
    }
  }
  return done;
}

/* Between processes by a lock on the log, which one that ends gives back. */
static int lock_log(const struct p3_log *log, short type, int command) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
  return p3_shared->forked ? fcntl(log->append, command, &lock) : 0;
}

static void unlock(struct p3_log *log) {
  lock_log(log, F_UNLCK, F_SETLK);
  atomic_store(&log->reader, 0);
  syscall(SYS_futex, &log->reader, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void p3_input_unlock(void) {
  pid_t me = (pid_t)syscall(SYS_gettid);
  for (int i = 0; i < P3_LOGS; i++)
    if (p3_logs[i] && atomic_load(&p3_logs[i]->reader) == me)
      unlock(p3_logs[i]);
  p3_fifo_unlock();
}

void p3_input_forked(void) {
  for (int i = 0; i < P3_LOGS; i++)
    if (p3_logs[i]) {
      atomic_store(&p3_logs[i]->reader, 0);
      atomic_store(&p3_logs[i]->busy, 0);
    }
  p3_fifo_forked();
}

/* Waiting is interrupted by signals as reading would be. False: it was, or somebody else is the reader. */
static bool become_reader(struct p3_log *log, bool wait) {
  pid_t me = (pid_t)syscall(SYS_gettid), other = 0;
  while (!atomic_compare_exchange_strong(&log->reader, &other, me) && other != me) {
    if (!wait ||
        (syscall(SYS_futex, &log->reader, FUTEX_WAIT_PRIVATE, other, NULL, NULL, 0) != 0 && errno == EINTR))
      return false;
    other = 0;
  }
  if (lock_log(log, F_WRLCK, wait ? F_SETLKW : F_SETLK) == 0)
    return true;
  int error = errno;
  unlock(log);
  errno = error;
  return false;
}

static bool is_nonblocking(const struct p3_log *log, int version) {
  return log->is_named && log->shared->nonblock[version];
}

void p3_log_adjust(int number, int version) {
  const struct p3_log *log = p3_logs[number];
  if (!log->is_named)
    return;
  int flags = fcntl(log->real, F_GETFL);
  int wanted = is_nonblocking(log, version) ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  if (flags != wanted)
    fcntl(log->real, F_SETFL, wanted);
}

/* From the real descriptor, into the log, too. By the reader, who is it no longer then. */
static ssize_t read_on(int number, int version, char *bytes, size_t size) {
  struct p3_log *log = p3_logs[number];
  p3_log_adjust(number, version);
  ssize_t done = read(log->real, bytes, size);
  int saved = errno;
  p3_inside++;
  pthread_mutex_lock(&mutex);
  if (done > 0) {
    append_all(log, bytes, done);
    lseek(log->cursors[version], done, SEEK_CUR);
  } else if (done == 0 && log->shared) {
    remember_end(log->shared, version, log_size(log));
  }
  pthread_mutex_unlock(&mutex);
  unlock(log);
  p3_settle(version);
  errno = saved;
  return done;
}

/* What poll says of the real descriptor. */
static int news(const struct p3_log *log) {
  struct pollfd poll_it = {.fd = log->real, .events = POLLIN};
  return poll(&poll_it, 1, 0) == 1 ? poll_it.revents : 0;
}

/* False: all that is in the log is behind the version. */
static bool read_log(struct p3_log *log, int version, char *bytes, size_t size, ssize_t *done) {
  p3_inside++;
  pthread_mutex_lock(&mutex);
  bool ended = next_end(log, version) == lseek(log->cursors[version], 0, SEEK_CUR);
  if (ended)
    log->shared->seen[version]++;
  *done = ended ? 0 : replay(log, version, bytes, size);
  pthread_mutex_unlock(&mutex);
  p3_settle(version);
  return ended || *done != 0;
}

static ssize_t read_some(int version, int number, char *bytes, size_t size) {
  struct p3_log *log = p3_logs[number];
  bool wait = !is_nonblocking(log, version);
  ssize_t done;
  if (!read_log(log, version, bytes, size, &done)) {
    if (!become_reader(log, wait)) {
      if (!wait)
        errno = EAGAIN;
      return -1;
    }
    /* The one before may have read something. */
    if (!read_log(log, version, bytes, size, &done))
      return read_on(number, version, bytes, size);
    unlock(log);
    return done;
  }
  /* Alone the version would get what else is there by now, too. */
  if (done > 0 && (size_t)done < size && !log->tty && !p3_log_pending(version, number) && news(log) & POLLIN &&
      become_reader(log, false)) {
    ssize_t more = 0;
    if (!p3_log_pending(version, number) && news(log) & POLLIN)
      more = read_on(number, version, bytes + done, size - done);
    else
      unlock(log);
    if (more > 0)
      done += more;
  }
  return done;
}

ssize_t p3_log_read(int version, int number, char *bytes, size_t size) {
  struct p3_log *log = p3_logs[number];
  if (!size)
    return 0;
  atomic_fetch_add(&log->busy, 1);
  ssize_t done = read_some(version, number, bytes, size);
  int error = errno;
  atomic_fetch_sub(&log->busy, 1);
  errno = error;
  return done;
}

bool p3_log_complete(int number) {
  struct p3_log *log = p3_logs[number];
  if ((news(log) & (POLLIN | POLLHUP)) == POLLIN || !become_reader(log, false))
    return false;
  fcntl(log->real, F_SETFL, fcntl(log->real, F_GETFL) | O_NONBLOCK);
  char bytes[4096];
  ssize_t got;
  while ((got = read(log->real, bytes, sizeof bytes)) > 0)
    append_all(log, bytes, got);
  unlock(log);
  return got == 0;
}
