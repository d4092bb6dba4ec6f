/* The version's stdin, stdout and stderr.
 *
 * Natively they are cookie FILEs over the virtual descriptors 0-2, with the buffer sizes and kinds of
 * buffering that glibc would choose, so that the same bytes are read and written at the same moments. They
 * are never freed: a program may name them after fclose, as it may glibc's.
 *
 * In KLEE they are FILEs of uclibc. stdout and stderr have a large buffer there that is never written to a
 * descriptor: shims move what is in it into the capture, or write there themselves. Only those exist that the
 * program can use. */
#include "p3v_streams.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

FILE *SHIM(stdin), *SHIM(stdout), *SHIM(stderr);
bool p3v_klee;
enum p3v_files p3v_files;

/* libc's names for bits of FILE._flags; part of its binary interface. */
#define UNBUFFERED 0x2
#define NO_READS 0x4
#define NO_WRITES 0x8
#define PUTTING 0x800
#define LINE_BUFFERED 0x200
#define APPENDING 0x1000

#define KLEE_BUFFER (1 << 14)

struct standard {
  FILE *file;
  char *buffer; /* ours, of BUFSIZ bytes; the program may have set another */
  bool closed;
  int orientation;
};
static struct standard standards[3];

int p3v_standard(FILE *file) {
  if (!file)
    return -1;
  return file == standards[1].file ? 1 : file == standards[2].file ? 2 : file == standards[0].file ? 0 : -1;
}

int *p3v_standard_orientation(int stream) { return &standards[stream].orientation; }

void p3v_leave_to_libc(FILE *file) {
  int stream = p3v_standard(file);
  if (stream < 0)
    return;
  if (P3_ME->has_bytes[stream])
    fwide(file, -1);
  P3_ME->direct[stream] = P3_NO_FILE;
}

void p3v_set_buffer(FILE *file, int fd, char *buffer) {
  struct stat stat;
  int saved = errno;
  size_t size = BUFSIZ;
  int kind = _IOFBF;
  if (p3_fd_stat(p3v_index, fd, &stat) == 0) {
    if (stat.st_blksize > 0 && stat.st_blksize < BUFSIZ)
      size = stat.st_blksize;
    if (S_ISCHR(stat.st_mode) && isatty(META(fd)))
      kind = _IOLBF;
  }
  setvbuf(file, buffer, kind, size);
  errno = saved;
}

static void set_buffer(int fd) { p3v_set_buffer(standards[fd].file, fd, standards[fd].buffer); }

static bool is_unused(FILE *file) {
  return file->_IO_read_base == file->_IO_read_end && file->_IO_write_base == file->_IO_write_ptr &&
         !(file->_flags & PUTTING);
}

void p3v_rebuffer(int fd) {
  if (p3v_klee || fd > 1 || !standards[fd].file)
    return;
  FILE *file = standards[fd].file;
  bool ours = file->_IO_buf_base == standards[fd].buffer;
  if (ours && !standards[fd].orientation && !(file->_flags & UNBUFFERED) && is_unused(file))
    set_buffer(fd);
}

static void init_native(int fd) {
  struct standard *standard = &standards[fd];
  standard->file = p3_fd_file(p3v_index, fd, fd == 0 ? "r" : "w");
  standard->buffer = malloc(BUFSIZ);
  if (!standard->file || !standard->buffer)
    p3_fatal("out of memory");
  if (fd == 2)
    standard->file->_flags |= UNBUFFERED;
  else
    set_buffer(fd);
}

static void init_klee(int fd) {
  struct standard *standard = &standards[fd];
  if (REAL(fd) < 0)
    return;
  standard->file = p3_fd_file(p3v_index, fd, fd == 0 ? "r" : "w");
  if (fd == 0)
    return;
  standard->buffer = malloc(KLEE_BUFFER);
  setvbuf(standard->file, standard->buffer, _IOFBF, KLEE_BUFFER);
  P3_ME->files[fd] = standard->file;
  p3_memory_begin(p3v_index, fd);
}

void p3v_streams_init(void) {
  p3v_klee = p3_in_klee();
  if (!p3v_klee && p3v_has_unknown_calls)
    p3_captures_complete();
  for (int fd = 0; fd <= 2; fd++) {
    if (!p3v_klee)
      init_native(fd);
    else if (p3v_used_streams & 1 << fd)
      init_klee(fd);
    P3_ME->files[fd] = standards[fd].file;
  }
  p3v_files = !p3v_klee ? P3V_FILES : p3v_used_streams & ~1 ? P3V_STREAMS : P3V_NO_FILES;
  p3v_ends_late |= p3v_has_destructors | (p3v_files != P3V_NO_FILES);
  SHIM(stdin) = standards[0].file;
  SHIM(stdout) = standards[1].file;
  SHIM(stderr) = standards[2].file;
}

static __attribute__((noinline)) void write_pending(int stream) {
  FILE *file = standards[stream].file;
  p3_fd_write_buffered(p3v_index, stream, standards[stream].buffer, __fpending(file));
  __fpurge(file);
}

void p3v_drain_stream(int stream) {
  if (standards[stream].file && __fpending(standards[stream].file) > 0)
    write_pending(stream);
}

void p3v_flush_stream(int stream) {
  p3v_drain_stream(stream);
  p3_memory_flush(p3v_index, stream);
}

void p3v_drain(FILE *file) {
  int stream = p3v_standard(file);
  if (stream > 0)
    p3v_drain_stream(stream);
}

void p3v_drain_all(void) {
  p3v_drain_stream(2);
  p3v_drain_stream(1);
}

/* ---- the program chooses how they are buffered ---- */

/* In KLEE the buffer of an output is the way into the capture, and stays. */
static bool is_fixed(FILE *file) { return p3v_klee && p3v_standard(file) > 0; }

/* stderr has no buffer yet, as in libc, which allocates one when the program asks for buffering without
 * bringing its own. */
int SHIM(setvbuf)(FILE *file, char *buffer, int kind, size_t size) {
  if (is_fixed(file)) {
    if (kind != _IOFBF && kind != _IOLBF && kind != _IONBF)
      return EOF;
    p3_memory_buffering(p3v_index, p3v_standard(file), kind, buffer ? size : 0);
    return 0;
  }
  if (!p3v_klee && p3v_standard(file) == 2 && !buffer && (kind == _IOFBF || kind == _IOLBF) &&
      !file->_IO_buf_base)
    set_buffer(2);
  return setvbuf(file, buffer, kind, size);
}

ALSO(int, _IO_setvbuf, (FILE * file, char *buffer, int kind, size_t size), setvbuf, file, buffer, kind, size)

void SHIM(setlinebuf)(FILE *file) { SHIM(setvbuf)(file, NULL, _IOLBF, 0); }

void SHIM(setbuffer)(FILE *file, char *buffer, size_t size) {
  if (is_fixed(file))
    SHIM(setvbuf)(file, buffer, buffer ? _IOFBF : _IONBF, size);
  else
    setbuffer(file, buffer, size);
}

ALSO(void, _IO_setbuffer, (FILE * file, char *buffer, size_t size), setbuffer, file, buffer, size)

void SHIM(setbuf)(FILE *file, char *buffer) { SHIM(setbuffer)(file, buffer, BUFSIZ); }

/* ---- closing and opening again, under the same FILE ---- */

/* Nothing buffered, no errors, readable and writable as said, on no memory of its old file. */
static void reset(struct standard *standard, int fd, bool readable, bool writable, bool append) {
  FILE *file = standard->file;
  __fpurge(file);
  clearerr(file);
  file->_IO_read_base = file->_IO_read_ptr = file->_IO_read_end = file->_IO_buf_base;
  file->_IO_write_base = file->_IO_write_ptr = file->_IO_write_end = file->_IO_buf_base;
  file->_flags &= ~(UNBUFFERED | NO_READS | NO_WRITES | PUTTING | LINE_BUFFERED | APPENDING);
  file->_flags |= (readable ? 0 : NO_READS) | (writable ? 0 : NO_WRITES) | (append ? APPENDING : 0);
  standard->orientation = 0;
  set_buffer(fd);
}

int p3v_close_standard(int stream) {
  struct standard *standard = &standards[stream];
  if (standard->closed)
    return EOF;
  if (p3v_klee) {
    if (stream > 0)
      p3v_flush_stream(stream);
    standard->closed = true;
    return p3_memory_close(p3v_index, stream) ? 0 : p3_fd_close(p3v_index, stream);
  }
  int flushed = fflush(standard->file);
  int error = errno;
  int closed = p3_fd_close(p3v_index, stream);
  standard->closed = true;
  int saved = closed ? errno : error;
  reset(standard, stream, false, false, false);
  errno = saved;
  return closed ? closed : flushed;
}

bool p3v_is_closed(int stream) { return standards[stream].closed; }

/* What freopen(NULL, mode, ...) opens: the same file anew. A captured or logged stream is not opened anew: it
 * goes on. */
static int open_same(int fd, int flags) {
  if (p3_fd_is_captured(p3v_index, fd) || p3_fd_is_logged(p3v_index, fd))
    return p3_fd_dup(p3v_index, fd, 0, flags & O_CLOEXEC);
  char path[P3_FD_PATH];
  snprintf(path, sizeof path, "/proc/self/fd/%d", REAL(fd));
  return NEW(open(path, flags, 0666));
}

FILE *p3v_reopen_standard(int stream, const char *path, const char *mode) {
  struct standard *standard = &standards[stream];
  if (p3v_klee && stream > 0)
    p3v_flush_stream(stream);
  else
    fflush(standard->file);
  int flags = p3v_mode_flags(mode);
  if (flags < 0)
    return NULL;
  int fd = path ? SHIM(open)(path, flags, 0666) : open_same(stream, flags);
  if (fd < 0) {
    int error = errno;
    p3v_close_standard(stream);
    errno = error;
    return NULL;
  }
  if (fd != stream) {
    p3_fd_dup2(p3v_index, fd, stream, flags & O_CLOEXEC);
    p3_fd_close(p3v_index, fd);
  }
  standard->closed = false;
  int access = flags & O_ACCMODE;
  reset(standard, stream, access != O_WRONLY, access != O_RDONLY, flags & O_APPEND);
  return standard->file;
}
