/* Reading, writing, seeking, duplicating and closing virtual descriptors, and asking about them. */
#include "p3_process.h"
#include "p3v_streams.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

void SHIM(__chk_fail)(void);

/* ---- data ---- */

ssize_t SHIM(read)(int fd, void *bytes, size_t size) { return p3_fd_read(p3v_index, fd, bytes, size); }

ssize_t SHIM(write)(int fd, const void *bytes, size_t size) {
  return p3_fd_write(p3v_index, fd, bytes, size);
}

ALSO(ssize_t, __read, (int fd, void *bytes, size_t size), read, fd, bytes, size)
ALSO(ssize_t, __write, (int fd, const void *bytes, size_t size), write, fd, bytes, size)

ssize_t SHIM(readv)(int fd, const struct iovec *parts, int count) {
  return p3_fd_readv(p3v_index, fd, parts, count);
}

ssize_t SHIM(writev)(int fd, const struct iovec *parts, int count) {
  return p3_fd_writev(p3v_index, fd, parts, count);
}

ssize_t SHIM(pread)(int fd, void *bytes, size_t size, off_t offset) {
  return p3_fd_pread(p3v_index, fd, bytes, size, offset);
}

ssize_t SHIM(pwrite)(int fd, const void *bytes, size_t size, off_t offset) {
  return p3_fd_pwrite(p3v_index, fd, bytes, size, offset);
}

ALSO(ssize_t, pread64, (int fd, void *bytes, size_t size, off_t offset), pread, fd, bytes, size, offset)
ALSO(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off_t offset), pwrite, fd, bytes, size,
     offset)

ssize_t SHIM(__read_chk)(int fd, void *bytes, size_t size, size_t room) {
  if (size > room)
    SHIM(__chk_fail)();
  return SHIM(read)(fd, bytes, size);
}

ssize_t SHIM(__pread_chk)(int fd, void *bytes, size_t size, off_t offset, size_t room) {
  if (size > room)
    SHIM(__chk_fail)();
  return SHIM(pread)(fd, bytes, size, offset);
}

ALSO(ssize_t, __pread64_chk, (int fd, void *bytes, size_t size, off_t offset, size_t room), __pread_chk, fd,
     bytes, size, offset, room)

static bool is_plain(int fd) { return !p3_fd_is_captured(p3v_index, fd) && !p3_fd_is_logged(p3v_index, fd); }

/* A captured or logged descriptor takes the parts one after the other. */
ssize_t SHIM(preadv2)(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
  if (is_plain(fd))
    return preadv2(REAL(fd), parts, count, offset, flags);
  if (offset == -1)
    return SHIM(readv)(fd, parts, count);
  ssize_t total = 0;
  for (int i = 0; i < count; i++) {
    ssize_t done = SHIM(pread)(fd, parts[i].iov_base, parts[i].iov_len, offset + total);
    if (done < 0)
      return total ? total : done;
    total += done;
    if ((size_t)done < parts[i].iov_len)
      break;
  }
  return total;
}

ssize_t SHIM(pwritev2)(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
  if (is_plain(fd))
    return pwritev2(REAL(fd), parts, count, offset, flags);
  if (offset == -1)
    return SHIM(writev)(fd, parts, count);
  ssize_t total = 0;
  for (int i = 0; i < count; i++) {
    ssize_t done = SHIM(pwrite)(fd, parts[i].iov_base, parts[i].iov_len, offset + total);
    if (done < 0)
      return total ? total : done;
    total += done;
    if ((size_t)done < parts[i].iov_len)
      break;
  }
  return total;
}

ALSO(ssize_t, preadv64v2, (int fd, const struct iovec *parts, int count, off_t offset, int flags), preadv2,
     fd, parts, count, offset, flags)
ALSO(ssize_t, pwritev64v2, (int fd, const struct iovec *parts, int count, off_t offset, int flags), pwritev2,
     fd, parts, count, offset, flags)

/* Unlike preadv2 and pwritev2 these know no offset -1. */
#define POSITIONED(name, with_flags)                                                                         \
  ssize_t SHIM(name)(int fd, const struct iovec *parts, int count, off_t offset) {                           \
    if (offset < 0) {                                                                                        \
      errno = EINVAL;                                                                                        \
      return -1;                                                                                             \
    }                                                                                                        \
    return SHIM(with_flags)(fd, parts, count, offset, 0);                                                    \
  }
POSITIONED(preadv, preadv2)
POSITIONED(preadv64, preadv2)
POSITIONED(pwritev, pwritev2)
POSITIONED(pwritev64, pwritev2)

/* ---- position and size ---- */

off_t SHIM(lseek)(int fd, off_t offset, int whence) { return p3_fd_seek(p3v_index, fd, offset, whence); }

ALSO(off_t, lseek64, (int fd, off_t offset, int whence), lseek, fd, offset, whence)
ALSO(off_t, __lseek, (int fd, off_t offset, int whence), lseek, fd, offset, whence)

int SHIM(ftruncate)(int fd, off_t size) { return p3_fd_truncate(p3v_index, fd, size); }

ALSO(int, ftruncate64, (int fd, off_t size), ftruncate, fd, size)

int SHIM(fallocate)(int fd, int mode, off_t offset, off_t size) {
  return p3_fd_allocate(p3v_index, fd, mode, offset, size);
}

ALSO(int, fallocate64, (int fd, int mode, off_t offset, off_t size), fallocate, fd, mode, offset, size)

int SHIM(posix_fallocate)(int fd, off_t offset, off_t size) {
  if (is_plain(fd))
    return posix_fallocate(REAL(fd), offset, size);
  int saved = errno;
  int result = SHIM(fallocate)(fd, 0, offset, size) == 0 ? 0 : errno;
  errno = saved;
  return result;
}

ALSO(int, posix_fallocate64, (int fd, off_t offset, off_t size), posix_fallocate, fd, offset, size)

int SHIM(fstat)(int fd, struct stat *stat) { return p3_fd_stat(p3v_index, fd, stat); }

/* The same structure on x86_64. */
ALSO(int, fstat64, (int fd, struct stat *stat), fstat, fd, stat)

int SHIM(__fxstat)(int version, int fd, struct stat *stat) {
  (void)version;
  return SHIM(fstat)(fd, stat);
}

ALSO(int, __fxstat64, (int version, int fd, struct stat *stat), __fxstat, version, fd, stat)

/* ---- the table ---- */

int SHIM(close)(int fd) {
  p3v_unwatch(fd);
  return p3_fd_close(p3v_index, fd);
}

ALSO(int, __close, (int fd), close, fd)

int SHIM(close_range)(unsigned first, unsigned last, int flags) {
  if (first > last || flags & ~(CLOSE_RANGE_CLOEXEC | CLOSE_RANGE_UNSHARE)) {
    errno = EINVAL;
    return -1;
  }
  if (!(flags & CLOSE_RANGE_CLOEXEC)) {
    p3_fd_close_range(p3v_index, first, last);
    return 0;
  }
  struct rlimit limit;
  unsigned end =
      p3_limit_get(p3v_index, RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? limit.rlim_cur : 65536;
  for (unsigned fd = first; fd <= last && fd < end; fd++)
    if (p3_fd_get_cloexec(p3v_index, fd) >= 0)
      p3_fd_set_cloexec(p3v_index, fd, true);
  return 0;
}

void SHIM(closefrom)(int lowest) { p3_fd_close_range(p3v_index, lowest < 0 ? 0 : lowest, UINT_MAX); }

int SHIM(dup)(int fd) { return p3_fd_dup(p3v_index, fd, 0, false); }

int SHIM(dup2)(int from, int to) {
  int fd = p3_fd_dup2(p3v_index, from, to, false);
  if (fd >= 0)
    p3v_rebuffer(to);
  return fd;
}

ALSO(int, __dup2, (int from, int to), dup2, from, to)

int SHIM(dup3)(int from, int to, int flags) {
  if (from == to || flags & ~O_CLOEXEC) {
    errno = EINVAL;
    return -1;
  }
  int fd = p3_fd_dup2(p3v_index, from, to, flags & O_CLOEXEC);
  if (fd >= 0)
    p3v_rebuffer(to);
  return fd;
}

/* ---- fcntl, ioctl ---- */

int SHIM(fcntl)(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  int number = (int)(long)argument;
  switch (command) {
  case F_DUPFD:
  case F_DUPFD_CLOEXEC:
    return p3_fd_dup(p3v_index, fd, number, command == F_DUPFD_CLOEXEC);
  case F_GETFD: {
    int on = p3_fd_get_cloexec(p3v_index, fd);
    return on < 0 ? on : on ? FD_CLOEXEC : 0;
  }
  case F_SETFD:
    return p3_fd_set_cloexec(p3v_index, fd, number & FD_CLOEXEC);
  case F_GETFL:
    return p3_fd_flags(p3v_index, fd);
  case F_SETFL:
    return p3_fd_set_flags(p3v_index, fd, number);
  default:
    return fcntl(META(fd), command, argument);
  }
}

int SHIM(fcntl64)(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  return SHIM(fcntl)(fd, command, argument);
}

int SHIM(ioctl)(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  switch (request) {
  case FIOCLEX:
  case FIONCLEX:
    return p3_fd_set_cloexec(p3v_index, fd, request == FIOCLEX);
  case FIONREAD: {
    off_t logged = p3_fd_pending(p3v_index, fd);
    int result = ioctl(META(fd), request, argument);
    if (result == 0 && logged > 0)
      *(int *)argument += logged;
    else if (result == 0 && logged == P3_HUNG_UP)
      *(int *)argument = 0;
    return result;
  }
  case FIONBIO: {
    int flags = p3_fd_flags(p3v_index, fd);
    return flags < 0 ? flags
                     : p3_fd_set_flags(p3v_index, fd, *(int *)argument ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
  }
  case FICLONE:
    return ioctl(REAL(fd), request, (long)REAL((int)(long)argument));
  default:
    return ioctl(META(fd), request, argument);
  }
}

int SHIM(isatty)(int fd) { return isatty(META(fd)); }
