/* Standard input: every version reads all of it, each with its own position.
 *
 * A regular file or block device is opened once more per version; the shown version (else the first) keeps
 * the product's own open file description, so that whoever reads on after the product finds the position
 * where that version left it. Anything else (pipe, terminal, socket, character device) can be read only once:
 * what is read goes into a log, a file without a name, and each version has its own open file description of
 * the log, whose offset is its position; a forked child shares it, as it would share the pipe. Beyond the log
 * a version reads from the real descriptor exactly what it asks for, never more. One reader at a time is at
 * the real descriptor, of all threads and processes: the others would wait for what comes after that, and
 * find it in the log in another order.
 *
 * On a terminal the replay keeps what the line discipline does: one line per read, and an end of file is seen
 * once at the place where it was typed. */
#include "core.h"
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

static int append = -1; /* the log, opened for appending */
static int cursors[P3_MAX_VERSIONS];
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* Ends of file typed on a terminal: offsets in the log, in order, and how many of them a version has seen,
 * with its children. Memory that these share. */
#define ENDS 65536
static struct ends {
  size_t count, seen[P3_MAX_VERSIONS];
  off_t at[ENDS];
} *ends;

/* The thread that reads from the real descriptor, 0: none. */
static _Atomic pid_t reader;

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

static struct ends *map_ends(void) {
  void *map =
      mmap(NULL, sizeof *ends, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return map == MAP_FAILED ? NULL : map;
}

static void init_log(void) {
  if (p3_originals[0].tty && !ends && !(ends = map_ends()))
    p3_fatal("out of memory");
  int log = append;
  if (log < 0) {
    log = p3_temporary_file();
    append = log < 0 ? -1 : reopen(log, O_WRONLY | O_APPEND);
  }
  for (int i = 0; append >= 0 && i < p3_count; i++) {
    cursors[i] = reopen(log, O_RDONLY);
    if (cursors[i] < 0)
      append = -1;
  }
  if (append < 0)
    p3_fatal("cannot make a temporary file for the standard input: %s", strerror(errno));
  if (log != append)
    close(log);
}

int p3_input_log(const off_t **log_ends, size_t *count) {
  *log_ends = ends ? ends->at : NULL;
  *count = ends ? ends->count : 0;
  return append;
}

void p3_input_resume(int log, const off_t *log_ends, size_t count) {
  p3_fd_keep(log);
  append = log;
  if (!count)
    return;
  ends = map_ends();
  if (!ends)
    p3_fatal("out of memory");
  ends->count = count;
  memcpy(ends->at, log_ends, count * sizeof *log_ends);
}

void p3_input_init(void) {
  const struct p3_original *original = &p3_originals[0];
  if (original->fd < 0)
    return;
  if (p3_in_klee()) {
    /* A duplicate has a position of its own there. */
    for (int i = 0; i < p3_count; i++)
      p3_fds_set(i, 0, (struct p3_entry){.real = dup(0)});
    return;
  }
  int first = p3_config.show > 0 ? p3_config.show : 0;
  bool log = !can_reopen(original);
  if (log)
    init_log();
  for (int i = 0; i < p3_count; i++) {
    int mine = log || i == first ? -1 : open_again(original);
    if (mine < 0)
      mine = duplicate(original->fd);
    p3_fds_set(i, 0, (struct p3_entry){.real = mine, .kind = log ? P3_LOG : P3_PLAIN});
  }
}

static off_t log_size(void) {
  struct stat stat;
  return fstat(append, &stat) == 0 ? stat.st_size : 0;
}

/* Whether the next thing for the version is an end of file; where the next one is. */
static off_t next_end(int version) {
  return ends && ends->seen[version] < ends->count ? ends->at[ends->seen[version]] : -1;
}

off_t p3_log_pending(int version) {
  off_t at = lseek(cursors[version], 0, SEEK_CUR), size = log_size(), end = next_end(version);
  if (end == at)
    return -1;
  return (end >= 0 && end < size ? end : size) - at;
}

void p3_log_descriptors(int version, int fds[2]) {
  fds[0] = append;
  fds[1] = cursors[version];
}

void p3_log_unread(int version, size_t size) { lseek(cursors[version], -(off_t)size, SEEK_CUR); }

static void append_all(const char *bytes, size_t size) {
  while (size) {
    ssize_t done = write(append, bytes, size);
    if (done < 0 && errno != EINTR)
      p3_fatal("cannot keep the standard input: %s", strerror(errno));
    if (done > 0) {
      bytes += done;
      size -= done;
    }
  }
}

static void remember_end(int version, off_t at) {
  if (ends->count < ENDS)
    ends->at[ends->count++] = at;
  ends->seen[version] = ends->count;
}

/* From the log only; 0: nothing there. */
static ssize_t replay(int version, char *bytes, size_t size) {
  off_t at = lseek(cursors[version], 0, SEEK_CUR), end = next_end(version);
  if (end > at && (off_t)size > end - at)
    size = end - at;
  ssize_t done = read(cursors[version], bytes, size);
  struct termios terminal;
  if (done > 0 && p3_originals[0].tty && tcgetattr(p3_originals[0].fd, &terminal) == 0 &&
      terminal.c_lflag & ICANON) {
    char *newline = memchr(bytes, '\n', done);
    if (newline && newline + 1 < bytes + done) {
      p3_log_unread(version, bytes + done - (newline + 1));
      done = newline + 1 - bytes;
    }
  }
  return done;
}

/* Between processes by a lock on the log, which one that ends gives back. */
static int lock_log(short type, int command) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
  return p3_shared->forked ? fcntl(append, command, &lock) : 0;
}

void p3_input_unlock(void) {
  pid_t me = (pid_t)syscall(SYS_gettid);
  if (atomic_load(&reader) != me)
    return;
  lock_log(F_UNLCK, F_SETLK);
  atomic_store(&reader, 0);
  syscall(SYS_futex, &reader, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void p3_input_forked(void) { atomic_store(&reader, 0); }

/* Waiting is interrupted by signals as reading would be. False: it was, or somebody else is the reader. */
static bool become_reader(bool wait) {
  pid_t me = (pid_t)syscall(SYS_gettid), other = 0;
  while (!atomic_compare_exchange_strong(&reader, &other, me) && other != me) {
    if (!wait ||
        (syscall(SYS_futex, &reader, FUTEX_WAIT_PRIVATE, other, NULL, NULL, 0) != 0 && errno == EINTR))
      return false;
    other = 0;
  }
  if (lock_log(F_WRLCK, wait ? F_SETLKW : F_SETLK) == 0)
    return true;
  int error = errno;
  p3_input_unlock();
  errno = error;
  return false;
}

/* From the real descriptor, into the log, too. By the reader, who is it no longer then. */
static ssize_t read_on(int version, char *bytes, size_t size) {
  ssize_t done = read(p3_originals[0].fd, bytes, size);
  int saved = errno;
  p3_inside++;
  pthread_mutex_lock(&mutex);
  if (done > 0) {
    append_all(bytes, done);
    lseek(cursors[version], done, SEEK_CUR);
  } else if (done == 0 && size && ends) {
    remember_end(version, log_size());
  }
  pthread_mutex_unlock(&mutex);
  p3_input_unlock();
  p3_settle(version);
  errno = saved;
  return done;
}

static bool more_waits(void) {
  struct pollfd poll_it = {.fd = p3_originals[0].fd, .events = POLLIN};
  return poll(&poll_it, 1, 0) == 1 && poll_it.revents & POLLIN;
}

/* False: all that is in the log is behind the version. */
static bool read_log(int version, char *bytes, size_t size, ssize_t *done) {
  p3_inside++;
  pthread_mutex_lock(&mutex);
  bool ended = next_end(version) == lseek(cursors[version], 0, SEEK_CUR);
  if (ended)
    ends->seen[version]++;
  *done = ended ? 0 : replay(version, bytes, size);
  pthread_mutex_unlock(&mutex);
  p3_settle(version);
  return ended || *done != 0;
}

ssize_t p3_log_read(int version, char *bytes, size_t size) {
  if (!size)
    return 0;
  ssize_t done;
  if (!read_log(version, bytes, size, &done)) {
    if (!become_reader(true))
      return -1;
    /* The one before may have read something. */
    if (!read_log(version, bytes, size, &done))
      return read_on(version, bytes, size);
    p3_input_unlock();
    return done;
  }
  /* Alone the version would get what else is there by now, too. */
  if (done > 0 && (size_t)done < size && !p3_originals[0].tty && !p3_log_pending(version) && more_waits() &&
      become_reader(false)) {
    ssize_t more = 0;
    if (!p3_log_pending(version) && more_waits())
      more = read_on(version, bytes + done, size - done);
    else
      p3_input_unlock();
    if (more > 0)
      done += more;
  }
  return done;
}
