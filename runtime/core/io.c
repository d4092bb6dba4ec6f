/* Operations on virtual descriptors whose data or properties are not simply those of the real one.
 *
 * Three kinds (core.h): plain ones go straight to the real descriptor, logged ones are a standard input or
 * another pipe that can be read only once, captured ones are standard output and error. A captured stream
 * answers like the real one behind it. Where that is a regular file, whatever changes offset or size is done in
 * the capture and, for the shown version, in the real file. */
#include "process.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a captured stream stands for. */
static const struct p3_original *original(const struct p3_entry *entry) {
  return &p3_originals[entry->stream];
}

static bool is_image(const struct p3_entry *entry) {
  return entry->kind == P3_CAPTURE && S_ISREG(original(entry)->stat.st_mode) && !p3_in_klee();
}

static bool is_kind(int version, int fd, enum p3_kind kind) {
  int saved = errno;
  struct p3_entry *entry = fd < 0 ? NULL : p3_fd_entry(version, fd);
  errno = saved;
  return entry && entry->kind == kind;
}

bool p3_fd_is_logged(int version, int fd) { return is_kind(version, fd, P3_LOG); }

bool p3_fd_is_input(int version, int fd) { return p3_fd_log(version, fd) == P3_INPUT_LOG; }

bool p3_fd_is_captured(int version, int fd) { return is_kind(version, fd, P3_CAPTURE); }

/* Standard output on a terminal or socket can usually be read, too; if it is the same one as standard input,
 * then from what is logged of that. */
static ssize_t read_captured(int version, struct p3_entry *entry, void *bytes, size_t size) {
  const struct p3_original *mine = original(entry), *input = &p3_originals[0];
  if ((mine->flags & O_ACCMODE) != O_RDWR || is_image(entry)) {
    errno = EBADF;
    return -1;
  }
  bool same = input->fd >= 0 && input->stat.st_dev == mine->stat.st_dev &&
              input->stat.st_ino == mine->stat.st_ino && !S_ISREG(input->stat.st_mode);
  return same && p3_logs[P3_INPUT_LOG] ? p3_log_read(version, P3_INPUT_LOG, bytes, size) : read(mine->fd, bytes, size);
}

ssize_t p3_fd_read(int version, int fd, void *bytes, size_t size) {
  p3_turn(version);
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  if (entry->kind == P3_LOG && p3_logs[entry->stream]->append >= 0)
    return p3_log_read(version, entry->stream, bytes, size);
  if (entry->kind == P3_CAPTURE)
    return read_captured(version, entry, bytes, size);
  return read(entry->real, bytes, size);
}

static bool total_size(const struct iovec *parts, int count, size_t *total) {
  *total = 0;
  if (count < 0 || count > IOV_MAX)
    return false;
  for (int i = 0; i < count; i++)
    *total += parts[i].iov_len;
  return *total <= SSIZE_MAX;
}

ssize_t p3_fd_readv(int version, int fd, const struct iovec *parts, int count) {
  p3_turn(version);
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  if (entry->kind == P3_PLAIN)
    return readv(entry->real, parts, count);
  size_t total;
  if (!total_size(parts, count, &total)) {
    errno = EINVAL;
    return -1;
  }
  char *bytes = malloc(total ? total : 1);
  if (!bytes)
    return -1;
  ssize_t got = p3_fd_read(version, fd, bytes, total);
  int error = errno;
  size_t left = got > 0 ? got : 0;
  for (char *from = bytes; left; parts++) {
    size_t size = parts->iov_len < left ? parts->iov_len : left;
    memcpy(parts->iov_base, from, size);
    from += size;
    left -= size;
  }
  free(bytes);
  errno = error;
  return got;
}

/* To a FIFO that the versions have opened. What a first run has written of it is there. */
static ssize_t write_fifo(int version, int number, const struct iovec *parts, int count, size_t total) {
  struct p3_log *log = p3_logs[number];
  off_t there = log->again - log->written;
  if (there > 0 && total) {
    ssize_t done = (off_t)total < there ? (ssize_t)total : there;
    log->written += done;
    return done;
  }
  p3_log_adjust(number, version);
  ssize_t done = writev(log->real, parts, count);
  if (done > 0)
    log->written += done;
  return done;
}

/* A terminal or socket on standard input can be written, too. It belongs to no captured stream. Nor does a FIFO. */
static ssize_t write_logged(int version, struct p3_entry *entry, const struct iovec *parts, int count) {
  size_t total;
  bool is_fifo = p3_logs[entry->stream]->is_named;
  if ((fcntl(p3_fd_source(entry), F_GETFL) & O_ACCMODE) == O_RDONLY) {
    errno = EBADF;
    return -1;
  }
  if (!total_size(parts, count, &total))
    return writev(p3_fd_source(entry), parts, count);
  if (is_fifo && p3_log_is_writer(version))
    return write_fifo(version, entry->stream, parts, count, total);
  return !is_fifo && p3_is_shown(version) ? writev(p3_fd_source(entry), parts, count) : (ssize_t)total;
}

/* `readable`: of the version's standard streams, all of it is memory that can be read. */
static ssize_t write_parts(int version, int fd, const struct iovec *parts, int count, bool readable) {
  p3_touch(version); /* SIGPIPE and SIGXFSZ go to the one that is here */
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  if (entry->kind == P3_CAPTURE) {
    p3_relay_settle(version);
    return p3_capture_writev(version, entry, parts, count, readable);
  }
  if (entry->kind == P3_LOG)
    return write_logged(version, entry, parts, count);
  return writev(entry->real, parts, count);
}

ssize_t p3_fd_writev(int version, int fd, const struct iovec *parts, int count) {
  return write_parts(version, fd, parts, count, false);
}

ssize_t p3_fd_write(int version, int fd, const void *bytes, size_t size) {
  p3_touch(version);
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  if (entry->kind == P3_PLAIN)
    return write(entry->real, bytes, size);
  struct iovec part = {(void *)bytes, size};
  return p3_fd_writev(version, fd, &part, 1);
}

off_t p3_fd_seek(int version, int fd, off_t offset, int whence) {
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  if (entry->kind == P3_PLAIN)
    return lseek(entry->real, offset, whence);
  if (!is_image(entry))
    return lseek(p3_fd_source(entry), offset, whence);
  const struct p3_capture *capture = &p3_captures[version][entry->stream];
  if (p3_follow_is_on(entry->stream) && whence == SEEK_CUR && offset == 0 && !capture->appends)
    return capture->at;
  p3_captures_complete();
  if (whence == SEEK_END) {
    struct stat stat;
    if (p3_fd_stat(version, fd, &stat) != 0)
      return -1;
    offset += stat.st_size;
    whence = SEEK_SET;
  }
  off_t at = lseek(entry->real, offset, whence);
  if (at >= 0 && (offset || whence != SEEK_CUR) && p3_is_shown(version))
    lseek(original(entry)->fd, at, SEEK_SET);
  return at;
}

/* A pipe or terminal has no positions; the null device takes any. */
static bool has_positions(struct p3_entry *entry) {
  return is_image(entry) || lseek(p3_fd_source(entry), 0, SEEK_CUR) >= 0;
}

ssize_t p3_fd_pread(int version, int fd, void *bytes, size_t size, off_t offset) {
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  if (entry->kind == P3_PLAIN)
    return pread(entry->real, bytes, size, offset);
  return has_positions(entry) ? p3_fd_read(version, fd, bytes, size) : -1;
}

/* The version is about to change its capture otherwise than by appending: what is not shown yet goes first,
 * and no other thread or process looks meanwhile. */
static bool begin_to_change(int version, struct p3_entry *entry) {
  p3_captures_complete();
  p3_inside++;
  bool first = p3_capture_lock(version, entry->stream);
  if (first && p3_is_shown(version))
    p3_show_rest(version, entry->stream);
  return first;
}

static ssize_t end_changing(int version, struct p3_entry *entry, bool first, ssize_t result) {
  struct stat stat;
  int error = errno;
  if (result >= 0 && p3_is_shown(version) && fstat(entry->real, &stat) == 0)
    p3_shared->shown[entry->stream] = stat.st_size;
  p3_capture_unlock(version, entry->stream, first);
  errno = error;
  p3_settle(version);
  return result;
}

ssize_t p3_fd_pwrite(int version, int fd, const void *bytes, size_t size, off_t offset) {
  p3_touch(version);
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  if (entry->kind == P3_PLAIN)
    return pwrite(entry->real, bytes, size, offset);
  if (!is_image(entry))
    return has_positions(entry) ? p3_fd_write(version, fd, bytes, size) : -1;
  bool first = begin_to_change(version, entry);
  ssize_t done = p3_is_shown(version) ? pwrite(original(entry)->fd, bytes, size, offset) : (ssize_t)size;
  if (done >= 0)
    done = pwrite(entry->real, bytes, done, offset);
  return end_changing(version, entry, first, done);
}

int p3_fd_stat(int version, int fd, struct stat *stat) {
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  if (entry->kind == P3_LOG && p3_logs[entry->stream]->is_over) {
    *stat = p3_logs[entry->stream]->stat;
    return 0;
  }
  if (!is_image(entry))
    return fstat(p3_fd_source(entry), stat);
  if (fstat(original(entry)->fd, stat) != 0)
    return -1;
  off_t before = original(entry)->stat.st_size;
  off_t end = p3_captures[version][entry->stream].base + p3_capture_length(version, entry->stream);
  stat->st_size = end > before ? end : before;
  return 0;
}

int p3_fd_truncate(int version, int fd, off_t size) {
  p3_touch(version);
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  if (!is_image(entry))
    return ftruncate(p3_fd_source(entry), size);
  bool first = begin_to_change(version, entry);
  int result = p3_is_shown(version) ? ftruncate(original(entry)->fd, size) : 0;
  if (result == 0)
    result = ftruncate(entry->real, size);
  return (int)end_changing(version, entry, first, result);
}

int p3_fd_allocate(int version, int fd, int mode, off_t offset, off_t size) {
  p3_touch(version);
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  if (!is_image(entry))
    return fallocate(p3_fd_source(entry), mode, offset, size);
  bool first = begin_to_change(version, entry);
  int result = p3_is_shown(version) ? fallocate(original(entry)->fd, mode, offset, size) : 0;
  if (result == 0)
    result = fallocate(entry->real, mode, offset, size);
  return (int)end_changing(version, entry, first, result);
}

#define STATUS_FLAGS (O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME | O_NONBLOCK)

/* A FIFO that the versions have opened: its description is not the versions', but who opens one has one of his own. */
static bool *own_nonblock(int version, const struct p3_entry *entry) {
  const struct p3_log *log = entry->kind == P3_LOG ? p3_logs[entry->stream] : NULL;
  return log && log->is_named ? &log->shared->nonblock[version] : NULL;
}

int p3_fd_flags(int version, int fd) {
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  bool *nonblock = own_nonblock(version, entry);
  if (nonblock)
    return p3_logs[entry->stream]->flags | (*nonblock ? O_NONBLOCK : 0);
  if (entry->kind != P3_CAPTURE)
    return fcntl(p3_fd_source(entry), F_GETFL);
  int flags = original(entry)->flags & ~(O_APPEND | O_NONBLOCK);
  bool append = is_image(entry) ? fcntl(entry->real, F_GETFL) & O_APPEND : original(entry)->flags & O_APPEND;
  return flags | (append ? O_APPEND : 0) | (entry->nonblock ? O_NONBLOCK : 0);
}

int p3_fd_set_flags(int version, int fd, int flags) {
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  bool *nonblock = own_nonblock(version, entry);
  if (nonblock) {
    *nonblock = flags & O_NONBLOCK;
    return 0;
  }
  if (entry->kind != P3_CAPTURE)
    return fcntl(p3_fd_source(entry), F_SETFL, flags);
  /* Of the version's own only: whether the real stream may block is the business of who started the product.
   */
  entry->nonblock = flags & O_NONBLOCK;
  if (!is_image(entry))
    return 0;
  p3_captures_complete();
  if (p3_is_shown(version))
    fcntl(original(entry)->fd, F_SETFL, (original(entry)->flags & ~O_APPEND) | (flags & O_APPEND));
  return fcntl(entry->real, F_SETFL, flags & STATUS_FLAGS & ~O_DIRECT);
}

off_t p3_fd_pending(int version, int fd) {
  int log = p3_fd_log(version, fd);
  off_t pending = log < 0 ? 0 : p3_log_pending(version, log);
  return pending < 0 && !p3_logs[log]->tty ? P3_HUNG_UP : pending;
}

void p3_fd_unread(int version, int fd, size_t size) {
  int log = p3_fd_log(version, fd);
  if (log >= 0)
    p3_log_unread(version, log, size);
}

/* ---- paths that name descriptors ---- */

/* The number that follows `prefix` and ends the path; -1: another path. */
static int number_after(const char *path, const char *prefix) {
  size_t length = strlen(prefix);
  if (strncmp(path, prefix, length) != 0)
    return -1;
  const char *digits = path + length;
  int number = 0;
  if (!*digits)
    return -1;
  for (; *digits; digits++) {
    if (*digits < '0' || *digits > '9' || number > 1 << 16)
      return -1;
    number = number * 10 + (*digits - '0');
  }
  return number;
}

int p3_fd_named(const char *path) {
  static const char names[][12] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  /* Few paths begin so; KLEE would fork on a symbolic path here for each character. */
  if (!path || p3_in_klee() || path[0] != '/' || (path[1] != 'd' && path[1] != 'p'))
    return -1;
  for (int fd = 0; fd <= 2; fd++)
    if (strcmp(path, names[fd]) == 0)
      return fd;
  static const char directories[][24] = {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"};
  for (int i = 0; i < 3; i++) {
    int fd = number_after(path, directories[i]);
    if (fd >= 0)
      return fd;
  }
  char mine[32];
  snprintf(mine, sizeof mine, "/proc/%d/fd/", getpid());
  return number_after(path, mine);
}

int p3_fd_of_capture(int version, const struct stat *file) {
  for (int i = 0; i < p3_count; i++)
    for (int stream = 1; stream <= 2; stream++) {
      const struct p3_capture *capture = &p3_captures[i][stream];
      if (p3_originals[stream].fd < 0 || capture->inode != file->st_ino || capture->device != file->st_dev)
        continue;
      for (int fd = 0; fd <= 2; fd++)
        if (p3_fd_is_captured(version, fd) && p3_fd_entry(version, fd)->stream == stream)
          return fd;
    }
  return -1;
}

const char *p3_fd_path(int version, const char *path, char space[P3_FD_PATH]) {
  int fd = p3_fd_named(path);
  struct p3_entry *entry = fd < 0 ? NULL : p3_fd_entry(version, fd);
  if (!entry)
    return path;
  snprintf(space, P3_FD_PATH, "/proc/self/fd/%d", p3_fd_meta(version, fd));
  return space;
}

/* ---- FILEs over virtual descriptors ---- */

/* Whose stream it is, and which virtual descriptor. A FILE carries both in the pointer itself: sanitizers
 * keep it where they do not look for pointers and would report memory as lost. */
struct cookie {
  int version, fd;
};

static void *pack(struct cookie cookie) {
  return (void *)((intptr_t)cookie.fd * P3_MAX_VERSIONS + cookie.version);
}

static struct cookie unpack(void *argument) {
  intptr_t packed = (intptr_t)argument;
  return (struct cookie){packed % P3_MAX_VERSIONS, packed / P3_MAX_VERSIONS};
}

/* libc's names for bits of FILE._flags; part of its binary interface. */
#define UNBUFFERED 0x2
#define NO_WRITES 0x8
#define LINE_BUFFERED 0x200

/* Like libc: before an unbuffered or line-buffered stream is read, a line-buffered stdout is written out. */
static void flush_prompt(struct cookie cookie) {
  FILE **files = p3_states[cookie.version].files;
  if (cookie.fd != 0 || !files[0] || !files[1] || !(files[0]->_flags & (UNBUFFERED | LINE_BUFFERED)))
    return;
  if ((files[1]->_flags & (LINE_BUFFERED | NO_WRITES)) == LINE_BUFFERED)
    fflush(files[1]);
}

static ssize_t cookie_read(void *argument, char *bytes, size_t size) {
  struct cookie cookie = unpack(argument);
  flush_prompt(cookie);
  return p3_fd_read(cookie.version, cookie.fd, bytes, size);
}

/* What is in the buffer of the version's own stream can be read. Large pieces come from where the program has
 * them. */
static bool is_buffered(struct cookie cookie, const char *bytes) {
  const FILE *file = cookie.fd <= 2 ? p3_states[cookie.version].files[cookie.fd] : NULL;
  return file && bytes >= file->_IO_buf_base && bytes < file->_IO_buf_end;
}

static ssize_t cookie_write(void *argument, const char *bytes, size_t size) {
  struct cookie cookie = unpack(argument);
  size_t left = size;
  while (left) {
    struct iovec part = {(char *)bytes, left};
    ssize_t done = write_parts(cookie.version, cookie.fd, &part, 1, is_buffered(cookie, bytes));
    if (done > 0)
      left -= done;
    /* A signal of the write that ended the version must not come a second time: it would be taken for another's. */
    if (done < 0 || p3_has_ended(cookie.version))
      break;
    bytes += done;
  }
  return size - left;
}

static int cookie_seek(void *argument, off64_t *offset, int whence) {
  struct cookie cookie = unpack(argument);
  off_t at = p3_fd_seek(cookie.version, cookie.fd, *offset, whence);
  if (at < 0)
    return -1;
  *offset = at;
  return 0;
}

static int cookie_close(void *argument) {
  struct cookie cookie = unpack(argument);
  return p3_fd_close(cookie.version, cookie.fd);
}

/* uclibc's fdopen asks whether the descriptor is a terminal. Of a symbolic standard input KLEE answers that
 * with a fork. So the FILE is made on the product's stdout, which is concrete, and then given the descriptor
 * and the direction, at the places where uclibc keeps them. */
struct uclibc_file {
  unsigned short flags;
  unsigned char unread[2];
  int fd;
};
#define UCLIBC_READ_ONLY 0x20
#define UCLIBC_WRITE_ONLY 0x10

static FILE *klee_input(int fd) {
  int writable = p3_originals[1].fd;
  FILE *file = writable < 0 ? NULL : fdopen(writable, "w");
  struct uclibc_file *fields = (struct uclibc_file *)file;
  if (!file || fields->fd != writable ||
      (fields->flags & (UCLIBC_READ_ONLY | UCLIBC_WRITE_ONLY)) != UCLIBC_WRITE_ONLY)
    return fdopen(fd, "r");
  fields->fd = fd;
  fields->flags ^= UCLIBC_READ_ONLY | UCLIBC_WRITE_ONLY;
  return file;
}

FILE *p3_fd_file(int version, int fd, const char *mode) {
  if (p3_in_klee())
    return fd == 0 ? klee_input(p3_fd_real(version, fd)) : fdopen(p3_fd_real(version, fd), mode);
  static const cookie_io_functions_t functions = {cookie_read, cookie_write, cookie_seek, cookie_close};
  return fopencookie(pack((struct cookie){version, fd}), mode, functions);
}
