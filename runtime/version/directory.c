/* Directories: streams over descriptors, functions that start from a directory's descriptor, and the
 * version's own current directory and umask. */
#include "p3v_streams.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* ---- streams ---- */

/* The virtual number is looked for only when somebody asks: it is the one whose real descriptor libc has. */
static int number_of(DIR *directory) {
  int real = dirfd(directory);
  return real < 0 ? -1 : p3_fd_number(p3v_index, real);
}

DIR *SHIM(fdopendir)(int fd) { return fdopendir(REAL(fd)); }

DIR *SHIM(opendir)(const char *path) {
  if (p3v_klee)
    return opendir(path);
  int fd = SHIM(open)(path, O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return NULL;
  DIR *directory = SHIM(fdopendir)(fd);
  if (!directory) {
    int error = errno;
    p3_fd_close(p3v_index, fd);
    errno = error;
  }
  return directory;
}

int SHIM(closedir)(DIR *directory) {
  if (p3v_klee || !directory)
    return closedir(directory);
  int fd = number_of(directory);
  int result = closedir(directory);
  int error = errno;
  if (fd >= 0)
    p3_fd_moved(p3v_index, fd, -1);
  errno = error;
  return result;
}

int SHIM(dirfd)(DIR *directory) {
  int real = dirfd(directory);
  if (real < 0 || p3v_klee)
    return real;
  int fd = number_of(directory);
  return fd < 0 ? real : fd;
}

/* ---- making FIFOs ---- */

static int made(int result, int directory, const char *path) {
  if (result == 0)
    p3_fifo_made(directory, path);
  return result;
}

int SHIM(mkfifo)(const char *path, mode_t mode) { return made(mkfifo(path, mode), AT_FDCWD, path); }

int SHIM(mkfifoat)(int fd, const char *path, mode_t mode) {
  return made(mkfifoat(REAL(fd), path, mode), REAL(fd), path);
}

int SHIM(mknod)(const char *path, mode_t mode, dev_t device) {
  return made(mknod(path, mode, device), AT_FDCWD, path);
}

int SHIM(mknodat)(int fd, const char *path, mode_t mode, dev_t device) {
  return made(mknodat(REAL(fd), path, mode, device), REAL(fd), path);
}

int SHIM(__xmknod)(int version, const char *path, mode_t mode, dev_t *device) {
  (void)version;
  return SHIM(mknod)(path, mode, *device);
}

/* ---- starting from a descriptor ---- */

PASS(int, faccessat, (int fd, const char *path, int mode, int flags), REAL(fd), path, mode, flags)
PASS(int, fchmodat, (int fd, const char *path, mode_t mode, int flags), REAL(fd), path, mode, flags)
PASS(int, fchownat, (int fd, const char *path, uid_t user, gid_t group, int flags), META(fd), path, user,
     group, flags)
PASS(int, linkat, (int from_fd, const char *from, int to_fd, const char *to, int flags), REAL(from_fd), from,
     REAL(to_fd), to, flags)
PASS(int, mkdirat, (int fd, const char *path, mode_t mode), REAL(fd), path, mode)
PASS(ssize_t, readlinkat, (int fd, const char *path, char *target, size_t size), REAL(fd), path, target, size)
PASS(int, renameat, (int from_fd, const char *from, int to_fd, const char *to), REAL(from_fd), from,
     REAL(to_fd), to)
PASS(int, renameat2, (int from_fd, const char *from, int to_fd, const char *to, unsigned flags),
     REAL(from_fd), from, REAL(to_fd), to, flags)
PASS(int, symlinkat, (const char *target, int fd, const char *path), target, REAL(fd), path)
PASS(int, unlinkat, (int fd, const char *path, int flags), REAL(fd), path, flags)
PASS(int, utimensat, (int fd, const char *path, const struct timespec times[2], int flags), META(fd), path,
     times, flags)
PASS(int, futimesat, (int fd, const char *path, const struct timeval times[2]), META(fd), path, times)
PASS(int, scandirat,
     (int fd, const char *path, struct dirent ***list, int (*select)(const struct dirent *),
      int (*compare)(const struct dirent **, const struct dirent **)),
     REAL(fd), path, list, select, compare)
PASS(int, scandirat64,
     (int fd, const char *path, struct dirent64 ***list, int (*select)(const struct dirent64 *),
      int (*compare)(const struct dirent64 **, const struct dirent64 **)),
     REAL(fd), path, list, select, compare)
PASS(int, name_to_handle_at, (int fd, const char *path, struct file_handle *handle, int *mount, int flags),
     META(fd), path, handle, mount, flags)

/* ---- where the version is ---- */

int SHIM(chdir)(const char *path) { return p3_chdir(p3v_index, path, -1); }

int SHIM(fchdir)(int fd) { return p3_chdir(p3v_index, NULL, REAL(fd)); }

/* Walks through trees change the directory as they go, unless told not to. */
#define WALKS(result, name, type)                                                                            \
  result SHIM(name)(type * walk) {                                                                           \
    int before = p3_directory_before(p3v_index);                                                             \
    result found = name(walk);                                                                               \
    int error = errno;                                                                                       \
    p3_directory_after(p3v_index, before);                                                                   \
    errno = error;                                                                                           \
    return found;                                                                                            \
  }

WALKS(FTSENT *, fts_read, FTS)
WALKS(int, fts_close, FTS)
WALKS(FTSENT64 *, fts64_read, FTS64)
WALKS(int, fts64_close, FTS64)

mode_t SHIM(umask)(mode_t mask) { return p3_umask(p3v_index, mask); }

mode_t SHIM(getumask)(void) { return P3_ME->umask; }
