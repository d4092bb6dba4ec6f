/* Opening files, and paths that name the version's own descriptors. Opening a captured or logged stream by
 * its name (/dev/stdout, /dev/fd/0, ...) gives another descriptor of the same stream. */
#include "p3v_streams.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define HAS_MODE(flags) ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE)

static bool is_stream(int fd) { return p3_fd_is_captured(p3v_index, fd) || p3_fd_is_logged(p3v_index, fd); }

static int open_stream(int fd, int flags) {
  if (flags & O_DIRECTORY) {
    errno = ENOTDIR;
    return -1;
  }
  if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
    errno = EEXIST;
    return -1;
  }
  int opened = p3_fd_dup(p3v_index, fd, 0, flags & O_CLOEXEC);
  if (opened >= 0 && flags & O_TRUNC)
    p3v_truncate_stream(opened);
  return opened;
}

/* A file is empty then, and written from its beginning. */
void p3v_truncate_stream(int fd) {
  struct stat stat;
  if (p3_fd_is_captured(p3v_index, fd) && p3_fd_stat(p3v_index, fd, &stat) == 0 && S_ISREG(stat.st_mode) &&
      p3_fd_truncate(p3v_index, fd, 0) == 0)
    p3_fd_seek(p3v_index, fd, 0, SEEK_SET);
}

static bool is_same(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What the path leads to; its mode is 0 if it leads to nothing. */
static struct stat look(int directory, const char *path, int flags) {
  struct stat found;
  if (p3v_klee || fstatat(directory == AT_FDCWD ? AT_FDCWD : REAL(directory), path, &found,
                          flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) != 0)
    found = (struct stat){0};
  return found;
}

/* The version's standard stream that was found in another way than by its name; -1: none. Asked before it is opened,
 * since the kernel knows the real stream or a capture, that of the version which owns the process, and opening could
 * truncate that. */
static int stream_behind(const struct stat *found, int flags) {
  if (S_ISREG(found->st_mode))
    return (flags & O_ACCMODE) == O_RDONLY ? -1 : p3_fd_of_capture(p3v_index, found);
  if (!S_ISFIFO(found->st_mode) && !S_ISCHR(found->st_mode))
    return -1;
  struct stat mine;
  for (int fd = 0; fd <= 2; fd++) {
    bool fits = (flags & O_ACCMODE) == O_RDONLY ? p3_fd_is_input(p3v_index, fd)
                                                : p3_fd_is_captured(p3v_index, fd);
    if (!fits)
      continue;
    if (p3_fd_stat(p3v_index, fd, &mine) == 0 && is_same(found, &mine) &&
        (S_ISFIFO(found->st_mode) || isatty(META(fd))))
      return fd;
  }
  return -1;
}

static int open_at(int directory, const char *path, int flags, mode_t mode) {
  int saved = errno, named = p3_fd_named(path), number = named;
  struct stat found = {0};
  if (!is_stream(named)) {
    found = look(directory, path, flags);
    named = stream_behind(&found, flags);
  }
  errno = saved;
  if (named >= 0)
    return open_stream(named, flags);
  char space[P3_FD_PATH];
  path = p3_fd_path(p3v_index, path, space);
  int from = directory == AT_FDCWD ? AT_FDCWD : REAL(directory), fd;
  if (number < 0 && p3_fifo_is_common(p3v_index, &found, flags))
    fd = p3_fifo_open(p3v_index, &found, from, path, flags);
  else
    fd = NEW(directory == AT_FDCWD ? open(path, flags, mode) : openat(from, path, flags, mode));
  if (fd >= 0 && fd <= 1)
    p3v_rebuffer(fd);
  return fd;
}

/* The mode is there only if the flags ask for one. */
#define OPENS(name, last_named, directory)                                                                   \
  {                                                                                                          \
    mode_t mode = 0;                                                                                         \
    if (HAS_MODE(flags)) {                                                                                   \
      va_list arguments;                                                                                     \
      va_start(arguments, last_named);                                                                       \
      mode = va_arg(arguments, mode_t);                                                                      \
      va_end(arguments);                                                                                     \
    }                                                                                                        \
    return open_at(directory, path, flags, mode);                                                            \
  }

int SHIM(open)(const char *path, int flags,
               ...) OPENS(open, flags, AT_FDCWD) int SHIM(open64)(const char *path, int flags, ...)
    OPENS(open64, flags, AT_FDCWD) int SHIM(__open)(const char *path, int flags, ...)
        OPENS(__open, flags, AT_FDCWD) int SHIM(__open64)(const char *path, int flags, ...)
            OPENS(__open64, flags, AT_FDCWD) int SHIM(openat)(int directory, const char *path, int flags, ...)
                OPENS(openat, flags, directory) int SHIM(openat64)(int directory, const char *path, int flags,
                                                                   ...) OPENS(openat64, flags, directory)

                    int SHIM(__open_2)(const char *path, int flags) {
  return open_at(AT_FDCWD, path, flags, 0);
}

int SHIM(__open64_2)(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }

int SHIM(__openat_2)(int directory, const char *path, int flags) {
  return open_at(directory, path, flags, 0);
}

int SHIM(__openat64_2)(int directory, const char *path, int flags) {
  return open_at(directory, path, flags, 0);
}

int SHIM(creat)(const char *path, mode_t mode) {
  return open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

ALSO(int, creat64, (const char *path, mode_t mode), creat, path, mode)

int SHIM(open_by_handle_at)(int mount, struct file_handle *handle, int flags) {
  return NEW(open_by_handle_at(REAL(mount), handle, flags));
}

/* ---- asking about a path ---- */

int SHIM(fstatat)(int directory, const char *path, struct stat *stat, int flags) {
  if (flags & AT_EMPTY_PATH && !*path && directory != AT_FDCWD)
    return p3_fd_stat(p3v_index, directory, stat);
  int named = p3_fd_named(path);
  if (is_stream(named) && !(flags & AT_SYMLINK_NOFOLLOW))
    return p3_fd_stat(p3v_index, named, stat);
  char space[P3_FD_PATH];
  if (!(flags & AT_SYMLINK_NOFOLLOW))
    path = p3_fd_path(p3v_index, path, space);
  return fstatat(META(directory), path, stat, flags);
}

ALSO(int, fstatat64, (int directory, const char *path, struct stat *stat, int flags), fstatat, directory,
     path, stat, flags)

int SHIM(stat)(const char *path, struct stat *result) {
  int named = p3_fd_named(path);
  if (is_stream(named))
    return p3_fd_stat(p3v_index, named, result);
  char space[P3_FD_PATH];
  return stat(p3_fd_path(p3v_index, path, space), result);
}

ALSO(int, stat64, (const char *path, struct stat *result), stat, path, result)

int SHIM(__xstat)(int version, const char *path, struct stat *result) {
  (void)version;
  return SHIM(stat)(path, result);
}

ALSO(int, __xstat64, (int version, const char *path, struct stat *result), __xstat, version, path, result)

int SHIM(__lxstat)(int version, const char *path, struct stat *result) {
  (void)version;
  return lstat(path, result);
}

ALSO(int, __lxstat64, (int version, const char *path, struct stat *result), __lxstat, version, path, result)

int SHIM(__fxstatat)(int version, int directory, const char *path, struct stat *stat, int flags) {
  (void)version;
  return SHIM(fstatat)(directory, path, stat, flags);
}

ALSO(int, __fxstatat64, (int version, int directory, const char *path, struct stat *stat, int flags),
     __fxstatat, version, directory, path, stat, flags)

int SHIM(statx)(int directory, const char *path, int flags, unsigned mask, struct statx *result) {
  bool empty = flags & AT_EMPTY_PATH && !*path && directory != AT_FDCWD;
  int named = empty ? directory : p3_fd_named(path);
  char space[P3_FD_PATH];
  if (!empty && !(flags & AT_SYMLINK_NOFOLLOW))
    path = p3_fd_path(p3v_index, path, space);
  int answer = statx(META(directory), path, flags, mask, result);
  struct stat stat;
  if (answer == 0 && is_stream(named) && S_ISREG(result->stx_mode) &&
      p3_fd_stat(p3v_index, named, &stat) == 0)
    result->stx_size = stat.st_size;
  return answer;
}

/* Functions of a path that follow it to a descriptor. */
#define FOLLOWS(type, name, rest_of_parameters, ...)                                                         \
  type SHIM(name) rest_of_parameters {                                                                       \
    char space[P3_FD_PATH];                                                                                  \
    return name(p3_fd_path(p3v_index, path, space), ##__VA_ARGS__);                                          \
  }

FOLLOWS(int, access, (const char *path, int mode), mode)
FOLLOWS(int, euidaccess, (const char *path, int mode), mode)
FOLLOWS(int, eaccess, (const char *path, int mode), mode)
FOLLOWS(int, chmod, (const char *path, mode_t mode), mode)
FOLLOWS(int, chown, (const char *path, uid_t user, gid_t group), user, group)
FOLLOWS(char *, realpath, (const char *path, char *result), result)
FOLLOWS(ssize_t, readlink, (const char *path, char *target, size_t size), target, size)
