/* What the versions write to their standard output and error.
 *
 * Natively a capture is a file without a name, so that large output needs no memory. Its open file
 * description has the flags of the real stream, and where that is a regular file the same offsets: seeking,
 * truncating and appending mean the same in both. Output of the shown version goes to the real stream first,
 * and what that one accepted goes into the capture. So the version sees the real stream's errors, SIGPIPE and
 * partial writes. Where the real stream began to fail is kept: the other versions meet the same error at the
 * same place.
 *
 * In KLEE a capture is memory (memory.c). */
#include "core.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

struct p3_capture p3_captures[P3_MAX_VERSIONS][3];

static struct p3_shared unshared;
struct p3_shared *p3_shared = &unshared;

/* Read once: the versions may change their environment. */
static const char *temporary_directory;

uint64_t p3_file_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

/* Where there is less room than this, memory is used: a version must not see the end of a disk that it does not write
 * to. */
#define LITTLE_ROOM (64u << 20)

static bool has_room(void) {
  struct statvfs disk;
  return statvfs(temporary_directory, &disk) != 0 || (uint64_t)disk.f_bavail * disk.f_frsize >= LITTLE_ROOM;
}

int p3_temporary_file(void) {
  int fd = p3_is_harness || !has_room()
               ? memfd_create("p3", MFD_CLOEXEC)
               : open(temporary_directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/p3-XXXXXX", temporary_directory) < (int)sizeof path &&
        (fd = mkostemp(path, O_CLOEXEC)) >= 0)
      unlink(path);
  }
  /* Whatever the umask is: the file is opened again. */
  if (fd >= 0)
    fchmod(fd, 0600);
  else
    fd = memfd_create("p3", MFD_CLOEXEC);
  return p3_fd_hide(fd);
}

/* Another open file description of `fd`. */
static int reopen(int fd, int flags) {
  char path[P3_FD_PATH];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return p3_fd_hide(open(path, flags | O_CLOEXEC));
}

bool p3_is_full_device(const struct stat *stat) {
  return S_ISCHR(stat->st_mode) && stat->st_rdev == makedev(1, 7);
}

static void init_native(int version, int stream) {
  struct p3_capture *capture = &p3_captures[version][stream];
  const struct p3_original *original = &p3_originals[stream];
  bool regular = S_ISREG(original->stat.st_mode);
  capture->read = p3_temporary_file();
  int append = !regular || original->flags & O_APPEND ? O_APPEND : 0;
  capture->write = capture->read < 0 ? -1 : reopen(capture->read, O_WRONLY | append);
  if (capture->write < 0)
    p3_fatal("cannot make a temporary file in %s: %s", temporary_directory, strerror(errno));
  capture->appends = append;
  struct stat file;
  if (fstat(capture->read, &file) == 0) {
    capture->device = file.st_dev;
    capture->inode = file.st_ino;
  }
  capture->base = original->start;
  if (capture->base && ftruncate(capture->write, capture->base) == 0)
    lseek(capture->write, capture->base, SEEK_SET);
  /* Only the first write moves it to the end. */
  if (regular && append)
    lseek(capture->write, lseek(original->fd, 0, SEEK_CUR), SEEK_SET);
  p3_shared->shown[stream] = capture->base;
  /* Other programs and libraries write to this one: where every write fails, they must see that, too. */
  int written = p3_is_full_device(&original->stat) ? original->fd : capture->write;
  int mine = p3_fd_hide(fcntl(written, F_DUPFD_CLOEXEC, 3));
  p3_fds_set(
      version, stream,
      (struct p3_entry){
          .real = mine, .kind = P3_CAPTURE, .stream = stream, .nonblock = original->flags & O_NONBLOCK});
}

void p3_captures_init(void) {
  if (p3_in_klee()) {
    /* One descriptor for all: nothing is ever written to it. */
    int shared = dup(1);
    for (int i = 0; i < p3_count; i++)
      for (int stream = 1; stream <= 2; stream++)
        if (p3_originals[stream].fd >= 0)
          p3_fds_set(i, stream, (struct p3_entry){.real = shared, .kind = P3_CAPTURE, .stream = stream});
    return;
  }
  temporary_directory = getenv("TMPDIR");
  temporary_directory = temporary_directory && *temporary_directory ? strdup(temporary_directory) : "/tmp";
  void *page = mmap(NULL, sizeof *p3_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED)
    p3_shared = page;
  for (int stream = 1; stream <= 2; stream++) {
    const struct p3_original *original = &p3_originals[stream];
    if (original->fd < 0)
      continue;
    if ((original->flags & O_ACCMODE) == O_RDONLY)
      p3_shared->error[stream] = EBADF;
    else if (p3_is_full_device(&original->stat))
      p3_shared->error[stream] = ENOSPC;
    for (int i = 0; i < p3_count; i++)
      init_native(i, stream);
    if (p3_shared->error[stream])
      p3_shared->limit[stream] = p3_captures[0][stream].base;
  }
  p3_follow_init();
}

static size_t size_of(const struct iovec *parts, int count) {
  size_t total = 0;
  for (int i = 0; i < count; i++)
    total += parts[i].iov_len;
  return total;
}

/* ---- in files ---- */

/* At most `size` bytes of the parts into the capture; the number, or -1. */
static ssize_t keep(int version, int stream, const struct iovec *parts, int count, size_t size, bool readable) {
  ssize_t total = 0;
  /* What goes to a pipe is kept in a file. */
  struct rlimit limit;
  bool is_lifted = !S_ISREG(p3_originals[stream].stat.st_mode) && p3_limit_lift(RLIMIT_FSIZE, &limit);
  for (int i = 0; i < count && size; i++) {
    const char *bytes = parts[i].iov_base;
    size_t part = parts[i].iov_len < size ? parts[i].iov_len : size;
    ssize_t done = p3_follow_is_on(stream) ? p3_follow_keep(version, bytes, part, readable)
                                           : p3_file_write(p3_captures[version][stream].write, bytes, part);
    if (done < 0) {
      total = total ? total : done;
      break;
    }
    total += done;
    size -= part;
    if ((size_t)done < part)
      break;
  }
  if (is_lifted) {
    int error = errno;
    p3_limit_return(RLIMIT_FSIZE, &limit);
    errno = error;
  }
  return total;
}

static bool has_no_reader(int stream) {
  const struct p3_original *original = &p3_originals[stream];
  if (!S_ISFIFO(original->stat.st_mode) && !S_ISSOCK(original->stat.st_mode))
    return false;
  struct pollfd poll_it = {.fd = original->fd, .events = POLLOUT};
  return poll(&poll_it, 1, 0) == 1 &&
         poll_it.revents & (S_ISFIFO(original->stat.st_mode) ? POLLERR : POLLHUP);
}

static ssize_t fails(int error) {
  if (error == EPIPE)
    raise(SIGPIPE);
  else if (error == EFBIG)
    raise(SIGXFSZ);
  errno = error;
  return -1;
}

/* Where the next write goes. Libraries and other programs may have appended by descriptors of their own. */
static off_t position(const struct p3_capture *capture, int stream) {
  if (p3_follow_is_on(stream))
    return capture->at;
  return lseek(capture->write, 0, capture->appends ? SEEK_END : SEEK_CUR);
}

static ssize_t write_hidden(int version, int stream, const struct iovec *parts, int count, bool readable) {
  struct p3_capture *capture = &p3_captures[version][stream];
  size_t total = size_of(parts, count);
  /* Where nobody is shown, nothing is written to the real stream that would tell. */
  if (p3_config.show == P3_NOBODY && !p3_shared->error[stream] && has_no_reader(stream)) {
    p3_shared->limit[stream] = position(capture, stream);
    p3_shared->error[stream] = EPIPE;
  }
  if (p3_shared->error[stream]) {
    off_t room = p3_shared->limit[stream] - position(capture, stream);
    if (room <= 0 && (total || p3_shared->error[stream] == EBADF))
      return fails(p3_shared->error[stream]);
    if ((off_t)total > room) {
      total = room;
      if (p3_shared->error[stream] == EPIPE)
        raise(SIGPIPE);
    }
  }
  return keep(version, stream, parts, count, total, readable);
}

/* One writer at a time: what is on the real stream must be what is in the capture. Recursive, since a signal
 * handler may write, too; that one must not look for unknown output in the middle of ours. */
static pthread_mutex_t mutexes[3] = {PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                                     PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                                     PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
static bool busy[3];

void p3_captures_unlock(void) {
  for (int stream = 1; stream <= 2; stream++) {
    mutexes[stream] = mutexes[0];
    busy[stream] = false;
  }
}

void p3_captures_quiet(void) {
  for (int stream = 1; stream <= 2; stream++)
    for (int tries = 0; pthread_mutex_trylock(&mutexes[stream]) != 0 && tries < 100; tries++)
      nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* To the real stream, which has got the first `there` bytes already. */
static ssize_t write_on(int fd, const struct iovec *parts, int count, size_t there) {
  size_t passed = 0;
  while (count && parts->iov_len <= there - passed) {
    passed += parts->iov_len;
    parts++;
    count--;
  }
  if (!count)
    return passed;
  size_t more = there - passed;
  struct iovec rest = {(char *)parts->iov_base + more, parts->iov_len - more};
  ssize_t done = more ? writev(fd, &rest, 1) : writev(fd, parts, count);
  if (done < 0)
    return there ? (ssize_t)there : done;
  if (more && (size_t)done == rest.iov_len && count > 1) {
    ssize_t last = writev(fd, parts + 1, count - 1);
    done += last > 0 ? last : 0;
  }
  return (ssize_t)there + done;
}

/* Between processes by a lock on the file; those do not nest. */
static void lock_file(int version, int stream, short type) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
  while (p3_shared->forked && fcntl(p3_captures[version][stream].write, F_SETLKW, &lock) != 0 &&
         errno == EINTR)
    ;
}

bool p3_capture_lock(int version, int stream) {
  pthread_mutex_lock(&mutexes[stream]);
  bool first = !busy[stream];
  busy[stream] = true;
  if (first)
    lock_file(version, stream, F_WRLCK);
  return first;
}

void p3_capture_unlock(int version, int stream, bool first) {
  if (first) {
    lock_file(version, stream, F_UNLCK);
    busy[stream] = false;
  }
  pthread_mutex_unlock(&mutexes[stream]);
}

/* What is wrong with the call and not with the stream. */
static bool is_of_caller(int error) { return error == EFAULT || error == EINVAL; }

static ssize_t write_shown(int version, int stream, const struct iovec *parts, int count, bool first) {
  struct p3_capture *capture = &p3_captures[version][stream];
  off_t *shown = &p3_shared->shown[stream];
  off_t at = position(capture, stream);
  if (first && at != *shown) {
    p3_show_rest(version, stream);
    at = position(capture, stream);
  }
  off_t there = p3_shared->there[stream] - at;
  ssize_t done = there > 0 ? write_on(p3_originals[stream].fd, parts, count, there)
                           : writev(p3_originals[stream].fd, parts, count);
  int error = errno;
  if (done >= 0) {
    keep(version, stream, parts, count, done, true);
    if (at + done > *shown) /* else it was sought back */
      *shown = at + done;
    /* The reader went away in the middle: the version got SIGPIPE already and may never write again. */
    if (done < (ssize_t)size_of(parts, count) && !p3_shared->error[stream] && has_no_reader(stream)) {
      p3_shared->limit[stream] = at + done;
      p3_shared->error[stream] = EPIPE;
    }
  } else if (error != EAGAIN && error != EINTR && !is_of_caller(error) && !p3_shared->error[stream]) {
    p3_shared->limit[stream] = position(capture, stream);
    p3_shared->error[stream] = error;
  }
  errno = error;
  return done;
}

/* Not inlined: KLEE calls what finds thread-local variables (p3_inside) as external code. */
__attribute__((noinline)) static ssize_t write_file(int version, int stream, const struct iovec *parts,
                                                    int count, bool readable) {
  p3_inside++;
  bool first = p3_capture_lock(version, stream);
  ssize_t done = p3_is_shown(version) ? write_shown(version, stream, parts, count, first)
                                      : write_hidden(version, stream, parts, count, readable);
  int error = errno;
  p3_capture_unlock(version, stream, first);
  errno = error;
  p3_settle(version);
  return done;
}

ssize_t p3_capture_writev(int version, struct p3_entry *entry, const struct iovec *parts, int count,
                          bool readable) {
  if (p3_in_klee()) {
    struct p3_capture *capture = &p3_captures[version][entry->stream];
    size_t before = capture->length;
    for (int i = 0; i < count; i++)
      p3_memory_insert(capture, parts[i].iov_base, parts[i].iov_len);
    return capture->length - before;
  }
  ssize_t done = write_file(version, entry->stream, parts, count, readable);
  p3_captures[version][entry->stream].written += done > 0 ? done : 0;
  return done;
}

off_t p3_capture_length(int version, int stream) {
  struct p3_capture *capture = &p3_captures[version][stream];
  if (p3_in_klee())
    return capture->length;
  if (p3_follow_is_on(stream))
    return capture->at - capture->base;
  struct stat stat;
  if (p3_originals[stream].fd < 0 || fstat(capture->read, &stat) != 0 || stat.st_size < capture->base)
    return 0;
  return stat.st_size - capture->base;
}

size_t p3_capture_get(int version, int stream, off_t from, char *bytes, size_t size) {
  struct p3_capture *capture = &p3_captures[version][stream];
  size_t done = 0;
  if (p3_originals[stream].fd < 0)
    return 0;
  int file = capture->read;
  if (p3_follow_is_on(stream)) {
    off_t left = capture->at - (capture->base + from);
    size = left <= 0 ? 0 : left < (off_t)size ? (size_t)left : size;
    if (size)
      file = p3_follow_source(version, capture->base + from + size);
  }
  while (done < size) {
    ssize_t got = pread(file, bytes + done, size - done, capture->base + from + done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    done += got;
  }
  return done;
}
