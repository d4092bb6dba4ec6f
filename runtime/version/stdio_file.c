/* Opening, closing and flushing FILEs.
 *
 * FILEs are glibc's own. The runtime keeps a list of the version's, each with its virtual descriptor, since
 * libc's list is one for all versions: exit flushes this version's, _exit discards them, fflush(NULL) means
 * them. A FILE on a captured or logged descriptor is a cookie FILE as the standard streams are. */
#include "p3v_process.h"
#include "p3v_streams.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

struct node {
  FILE *file;
  int fd;              /* virtual number, -1: none */
  bool cookie;         /* closes its descriptor itself */
  char *buffer;        /* of a cookie FILE */
  void *space;         /* of open_memstream: where libc tells what it has */
  bool foreign;        /* calls functions of the program */
  int orientation;     /* of a cookie FILE */
  struct node *next;   /* opened before */
  struct node *before; /* opened after */
  struct node *chain;  /* of the same bucket */
};

#define BUCKETS 256
static struct node *newest;
static struct node *buckets[BUCKETS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void) {
  if (!p3v_klee)
    pthread_mutex_lock(&mutex);
}

static void unlock(void) {
  if (!p3v_klee)
    pthread_mutex_unlock(&mutex);
}

static struct node **place(FILE *file) {
  struct node **link = &buckets[((size_t)file >> 5) % BUCKETS];
  while (*link && (*link)->file != file)
    link = &(*link)->chain;
  return link;
}

static struct node *find(FILE *file) {
  lock();
  struct node *node = *place(file);
  unlock();
  return node;
}

static struct node *add(FILE *file, int fd, bool cookie) {
  struct node *node = malloc(sizeof *node);
  if (!node)
    return NULL;
  *node = (struct node){.file = file, .fd = fd, .cookie = cookie};
  lock();
  node->next = newest;
  if (newest)
    newest->before = node;
  newest = node;
  p3v_files = P3V_FILES;
  p3v_ends_late = true;
  struct node **link = place(file);
  node->chain = *link;
  *link = node;
  unlock();
  return node;
}

void p3v_file_add(FILE *file, int fd) { add(file, fd, false); }

void p3v_file_remove(FILE *file) {
  lock();
  struct node **link = place(file), *node = *link;
  if (node) {
    *link = node->chain;
    if (node->before)
      node->before->next = node->next;
    else
      newest = node->next;
    if (node->next)
      node->next->before = node->before;
  }
  unlock();
  free(node);
}

/* ---- flushing ---- */

static int flush_standard(int stream, bool input_too) {
  FILE *file = P3_ME->files[stream];
  if (!file || p3v_is_closed(stream))
    return 0;
  if (p3v_klee && stream > 0) {
    p3v_flush_stream(stream);
    return 0;
  }
  if (!input_too && __fpending(file) == 0)
    return 0;
  int result = fflush(file);
  p3v_wrote(file);
  return result;
}

/* In libc's order: the newest first, the standard streams last. */
static int flush_all(bool input_too) {
  int result = 0;
  for (struct node *node = newest; node; node = node->next)
    if (input_too || __fpending(node->file) > 0)
      result |= fflush(node->file);
  for (int stream = 2; stream >= 0; stream--)
    result |= flush_standard(stream, input_too);
  return result;
}

void p3v_files_flush(void) {
  /* KLEE's reads have no one who would go on at the position left behind. */
  flush_all(!p3v_klee);
}

void p3v_files_discard(void) {
  for (struct node *node = newest; node; node = node->next)
    __fpurge(node->file);
  for (int stream = 0; stream < 3; stream++)
    if (P3_ME->files[stream])
      __fpurge(P3_ME->files[stream]);
}

const void *p3v_files_next(const void *after, struct p3_file *file) {
  const struct node *node = after ? ((const struct node *)after)->next : newest;
  if (node)
    *file = (struct p3_file){node->file, node->space, node->foreign};
  return node;
}

int SHIM(fflush)(FILE *file) {
  if (!file)
    return flush_all(false);
  int stream = p3v_standard(file);
  if (p3v_klee && stream > 0) {
    p3v_flush_stream(stream);
    return 0;
  }
  return fflush(file);
}

int SHIM(fflush_unlocked)(FILE *file) {
  int stream = file ? p3v_standard(file) : -1;
  return !file || (p3v_klee && stream > 0) ? SHIM(fflush)(file) : fflush_unlocked(file);
}

ALSO(int, _IO_fflush, (FILE * file), fflush, file)

int SHIM(fcloseall)(void) {
  int result = flush_all(true);
  for (struct node *node = newest; node; node = node->next)
    setvbuf(node->file, NULL, _IONBF, 0);
  return result;
}

/* ---- opening ---- */

int p3v_mode_flags(const char *mode) {
  int flags;
  switch (*mode) {
  case 'r':
    flags = 0;
    break;
  case 'w':
    flags = O_CREAT | O_TRUNC;
    break;
  case 'a':
    flags = O_CREAT | O_APPEND;
    break;
  default:
    errno = EINVAL;
    return -1;
  }
  int access = *mode == 'r' ? O_RDONLY : O_WRONLY;
  /* glibc looks at no more than six further characters. */
  for (int i = 1; i < 7 && mode[i] && mode[i] != ','; i++) {
    if (mode[i] == '+')
      access = O_RDWR;
    else if (mode[i] == 'x')
      flags |= O_EXCL;
    else if (mode[i] == 'e')
      flags |= O_CLOEXEC;
  }
  return flags | access;
}

/* libc made a FILE on a descriptor of its own: gives that a virtual number. */
static FILE *adopt(FILE *file) {
  if (!file)
    return NULL;
  int fd = NEW(fileno(file));
  if (fd < 0 || !add(file, fd, false)) {
    int error = fd < 0 ? EMFILE : ENOMEM;
    fclose(file);
    errno = error;
    return NULL;
  }
  if (!p3v_klee)
    file->_fileno = REAL(fd);
  return file;
}

/* A FILE through p3_fd_read and p3_fd_write. */
static FILE *open_cookie(int fd, const char *mode) {
  FILE *file = p3_fd_file(p3v_index, fd, mode);
  struct node *node = file ? add(file, fd, true) : NULL;
  if (!node)
    return NULL;
  if (!p3v_klee && (node->buffer = malloc(BUFSIZ)))
    p3v_set_buffer(file, fd, node->buffer);
  return file;
}

/* As open does it. Null, and errno: that failed. */
static FILE *open_and_make(const char *path, const char *mode) {
  int flags = p3v_mode_flags(mode);
  int fd = flags < 0 ? -1 : SHIM(open)(path, flags, 0666);
  FILE *file = fd < 0 ? NULL : SHIM(fdopen)(fd, mode);
  if (fd >= 0 && !file) {
    int error = errno;
    p3_fd_close(p3v_index, fd);
    errno = error;
  }
  return file;
}

static bool is_fifo(const char *path) {
  struct stat stat_of;
  int saved = errno;
  bool is = !p3v_klee && stat(path, &stat_of) == 0 && S_ISFIFO(stat_of.st_mode);
  errno = saved;
  return is;
}

FILE *SHIM(fopen)(const char *path, const char *mode) {
  int named = p3_fd_named(path);
  if (named < 0 && is_fifo(path))
    return open_and_make(path, mode);
  if (p3_fd_is_captured(p3v_index, named) || p3_fd_is_logged(p3v_index, named)) {
    int flags = p3v_mode_flags(mode);
    int fd = flags < 0 ? -1 : SHIM(open)(path, flags, 0666);
    return fd < 0 ? NULL : open_cookie(fd, mode);
  }
  char space[P3_FD_PATH];
  return adopt(fopen(p3_fd_path(p3v_index, path, space), mode));
}

ALSO(FILE *, fopen64, (const char *path, const char *mode), fopen, path, mode)
ALSO(FILE *, _IO_fopen, (const char *path, const char *mode), fopen, path, mode)

FILE *SHIM(fdopen)(int fd, const char *mode) {
  if (p3_fd_is_captured(p3v_index, fd) || p3_fd_is_logged(p3v_index, fd)) {
    if (p3v_mode_flags(mode) < 0)
      return NULL;
    int access = p3_fd_flags(p3v_index, fd) & O_ACCMODE, wanted = p3v_mode_flags(mode) & O_ACCMODE;
    if (access != O_RDWR && access != wanted) {
      errno = EINVAL;
      return NULL;
    }
    return open_cookie(fd, mode);
  }
  FILE *file = fdopen(REAL(fd), mode);
  if (file)
    add(file, fd, false);
  return file;
}

ALSO(FILE *, _IO_fdopen, (int fd, const char *mode), fdopen, fd, mode)

FILE *SHIM(tmpfile)(void) { return adopt(tmpfile()); }

ALSO(FILE *, tmpfile64, (void), tmpfile)

static FILE *track(FILE *file, void *space, bool foreign) {
  struct node *node = file ? add(file, -1, false) : NULL;
  if (node) {
    node->space = space;
    node->foreign = foreign;
  }
  return file;
}

FILE *SHIM(fmemopen)(void *buffer, size_t size, const char *mode) {
  return track(fmemopen(buffer, size, mode), NULL, false);
}

FILE *SHIM(open_memstream)(char **bytes, size_t *size) { return track(open_memstream(bytes, size), bytes, false); }

FILE *SHIM(open_wmemstream)(wchar_t **text, size_t *size) { return track(open_wmemstream(text, size), text, false); }

FILE *SHIM(fopencookie)(void *cookie, const char *mode, cookie_io_functions_t functions) {
  return track(fopencookie(cookie, mode, functions), NULL, true);
}

FILE *SHIM(freopen)(const char *path, const char *mode, FILE *file) {
  int stream = p3v_standard(file);
  if (stream >= 0 && !p3v_klee)
    return p3v_reopen_standard(stream, path, mode);
  p3v_leave_to_libc(file);
  struct node *node = find(file);
  bool cookie = node && node->cookie && !p3v_klee;
  if (cookie && !path)
    return fflush(file) == 0 ? file : NULL;
  char space[P3_FD_PATH];
  int named = path && !p3v_klee ? p3_fd_named(path) : -1;
  if (p3_fd_is_captured(p3v_index, named)) {
    /* A FILE of libc's own cannot become a cookie FILE. What it appends to the capture is shown later. */
    snprintf(space, sizeof space, "/proc/self/fd/%d", REAL(named));
    path = space;
    mode = strchr(mode, 'e') ? "ae" : "a";
  } else if (path) {
    path = p3_fd_path(p3v_index, path, space);
  }
  FILE *result = freopen(path, mode, file);
  if (cookie && result) {
    node->cookie = false;
    node->fd = NEW(fileno(result));
    result->_fileno = REAL(node->fd);
  } else if (node && node->fd >= 0 && !node->cookie) {
    p3_fd_moved(p3v_index, node->fd, result ? fileno(result) : -1);
  }
  if (!result)
    p3v_file_remove(file);
  return result;
}

ALSO(FILE *, freopen64, (const char *path, const char *mode, FILE *file), freopen, path, mode, file)

/* ---- closing ---- */

int SHIM(fclose)(FILE *file) {
  int stream = p3v_standard(file);
  if (stream >= 0)
    return p3v_close_standard(stream);
  struct node *node = find(file);
  int fd = node && !node->cookie ? node->fd : -1;
  char *buffer = node ? node->buffer : NULL;
  p3v_file_remove(file);
  int result = fclose(file);
  int error = errno;
  free(buffer);
  if (fd >= 0)
    p3_fd_moved(p3v_index, fd, -1);
  errno = error;
  return p3v_popen_closed(file, result);
}

ALSO(int, _IO_fclose, (FILE * file), fclose, file)

int SHIM(fileno)(FILE *file) {
  int stream = p3v_standard(file);
  if (stream >= 0) {
    if (!p3v_is_closed(stream))
      return stream;
    errno = EBADF;
    return -1;
  }
  struct node *node = find(file);
  if (!node)
    return fileno(file);
  if (node->fd < 0)
    errno = EBADF;
  return node->fd;
}

int *p3v_orientation(FILE *file) {
  if (p3v_klee) {
    p3v_leave_to_libc(file);
    return NULL;
  }
  int stream = p3v_standard(file);
  if (stream >= 0)
    return p3v_standard_orientation(stream);
  struct node *node = find(file);
  return node && node->cookie ? &node->orientation : NULL;
}

ALSO(int, fileno_unlocked, (FILE * file), fileno, file)
