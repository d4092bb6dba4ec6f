/* Copying between descriptors inside the kernel. Captured output and logged input have to pass through the
 * runtime and are copied by hand there. What cannot be done so (tee, copies that must not wait) says EINVAL, as
 * the kernel does for many kinds of files, and programs then copy themselves. */
#include "p3v_streams.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static bool is_plain(int fd) { return !p3_fd_is_captured(p3v_index, fd) && !p3_fd_is_logged(p3v_index, fd); }

/* Reads at *offset, which moves on, or at the descriptor's own position. */
static ssize_t read_some(int fd, off_t *offset, char *bytes, size_t size) {
  if (!offset)
    return p3_fd_read(p3v_index, fd, bytes, size);
  ssize_t got = p3_fd_pread(p3v_index, fd, bytes, size, *offset);
  if (got > 0)
    *offset += got;
  return got;
}

ssize_t SHIM(sendfile)(int output, int input, off_t *offset, size_t size) {
  if (is_plain(output) && is_plain(input))
    return sendfile(REAL(output), REAL(input), offset, size);
  if (!is_plain(input)) {
    errno = EINVAL;
    return -1;
  }
  char bytes[16384];
  size_t done = 0;
  while (done < size) {
    ssize_t got = read_some(input, offset, bytes, size - done < sizeof bytes ? size - done : sizeof bytes);
    if (got <= 0)
      return got < 0 && !done ? got : (ssize_t)done;
    ssize_t put = p3_fd_write(p3v_index, output, bytes, got);
    off_t back = got - (put > 0 ? put : 0);
    if (back && offset)
      *offset -= back;
    else if (back)
      p3_fd_seek(p3v_index, input, -back, SEEK_CUR);
    if (put < 0)
      return done ? (ssize_t)done : put;
    done += put;
    if (back)
      break;
  }
  return done;
}

ALSO(ssize_t, sendfile64, (int output, int input, off_t *offset, size_t size), sendfile, output, input,
     offset, size)

static ssize_t refused(int a, int b) {
  errno = REAL(a) < 0 || REAL(b) < 0 ? EBADF : EINVAL;
  return -1;
}

/* One read and one write. What could not be written is there to be read again. */
static ssize_t move_some(int input, off64_t *from, int output, off64_t *to, size_t size) {
  char bytes[16384];
  ssize_t got = read_some(input, from, bytes, size < sizeof bytes ? size : sizeof bytes);
  if (got <= 0)
    return got;
  ssize_t put = to ? p3_fd_pwrite(p3v_index, output, bytes, got, *to)
                   : p3_fd_write(p3v_index, output, bytes, got);
  int error = errno;
  off_t back = got - (put > 0 ? put : 0);
  if (back && from)
    *from -= back;
  else if (back && p3_fd_is_logged(p3v_index, input))
    p3_fd_unread(p3v_index, input, back);
  else if (back)
    p3_fd_seek(p3v_index, input, -back, SEEK_CUR);
  if (put > 0 && to)
    *to += put;
  errno = error;
  return put;
}

static bool is_appended_to(int fd) { return p3_fd_flags(p3v_index, fd) & O_APPEND; }

ssize_t SHIM(copy_file_range)(int input, off64_t *from, int output, off64_t *to, size_t size,
                              unsigned flags) {
  if (is_plain(input) && is_plain(output))
    return copy_file_range(REAL(input), from, REAL(output), to, size, flags);
  struct stat source, target;
  if (p3_fd_stat(p3v_index, input, &source) != 0 || p3_fd_stat(p3v_index, output, &target) != 0)
    return -1;
  if (flags || !S_ISREG(source.st_mode) || !S_ISREG(target.st_mode))
    return refused(input, output);
  if (is_appended_to(output)) {
    errno = EBADF;
    return -1;
  }
  size_t done = 0;
  while (done < size) {
    ssize_t put = move_some(input, from, output, to, size - done);
    if (put <= 0)
      return put < 0 && !done ? put : (ssize_t)done;
    done += put;
  }
  return done;
}

ssize_t SHIM(splice)(int input, off64_t *from, int output, off64_t *to, size_t size, unsigned flags) {
  if (is_plain(input) && is_plain(output))
    return splice(REAL(input), from, REAL(output), to, size, flags);
  struct stat source, target;
  if (p3_fd_stat(p3v_index, input, &source) != 0 || p3_fd_stat(p3v_index, output, &target) != 0)
    return -1;
  bool from_pipe = S_ISFIFO(source.st_mode), to_pipe = S_ISFIFO(target.st_mode);
  if ((from_pipe && from) || (to_pipe && to)) {
    errno = ESPIPE;
    return -1;
  }
  if ((!from_pipe && !to_pipe) || flags & SPLICE_F_NONBLOCK || (!to_pipe && is_appended_to(output)))
    return refused(input, output);
  return size ? move_some(input, from, output, to, size) : 0;
}

ssize_t SHIM(tee)(int input, int output, size_t size, unsigned flags) {
  if (!is_plain(input) || !is_plain(output))
    return refused(input, output);
  return tee(REAL(input), REAL(output), size, flags);
}

ssize_t SHIM(vmsplice)(int fd, const struct iovec *parts, size_t count, unsigned flags) {
  if (!is_plain(fd))
    return (p3_fd_flags(p3v_index, fd) & O_ACCMODE) == O_RDONLY ? p3_fd_readv(p3v_index, fd, parts, count)
                                                                : p3_fd_writev(p3v_index, fd, parts, count);
  return vmsplice(REAL(fd), parts, count, flags);
}
