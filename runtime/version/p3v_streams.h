/* What the descriptor and stdio shims share. */
#ifndef P3V_STREAMS_H
#define P3V_STREAMS_H

#include "p3_runtime.h"
#include <stdarg.h>

/* Once, before any code of the version: standard streams. */
void p3v_streams_init(void);

/* Set by p3v_streams_init. */
extern bool p3v_klee;

/* Whether exit has more to do than to end the version: handlers, destructors, FILEs. */
extern bool p3v_ends_late;

/* What has to be flushed at the version's end. */
extern enum p3v_files {
  P3V_NO_FILES,
  P3V_STREAMS, /* in KLEE: its stdout and stderr only */
  P3V_FILES,
} p3v_files;

/* The real descriptor for data, for questions. */
#define REAL(fd) p3_fd_real(p3v_index, fd)
#define META(fd) p3_fd_meta(p3v_index, fd)
/* The virtual number for a new real descriptor. */
#define NEW(real) p3_fd_install(p3v_index, real, 0)

/* `type NAME parameters`, which calls libc's NAME with the given arguments. */
#define PASS(type, name, parameters, ...)                                                                    \
  type SHIM(name) parameters { return name(__VA_ARGS__); }
/* The same body under another name. */
#define ALSO(type, alias, parameters, name, ...)                                                             \
  type SHIM(alias) parameters { return SHIM(name)(__VA_ARGS__); }

/* After something was written to `file`: in KLEE the bytes leave its buffer for the capture. */
void p3v_drain(FILE *file);
void p3v_drain_stream(int stream); /* 1 or 2 */
/* What fflush does: they are written. */
void p3v_flush_stream(int stream);
/* p3v_drain for stdout and stderr, in case that something was written by what has no shim. */
void p3v_drain_all(void);
static inline void p3v_wrote(FILE *file) {
  if (p3v_klee)
    p3v_drain(file);
}

/* Natively a character is often only taken from a FILE's buffer or put there. That is done where the program calls, so
 * that it costs what it costs alone (and glibc's own headers have macros for it): no libc, and no errno, is concerned. */
#define P3V_IN_PLACE __attribute__((always_inline))
/* Whether there are no threads that could hold the lock of a FILE. */
extern char __libc_single_threaded __attribute__((weak));
static inline bool p3v_needs_no_lock(void) { return &__libc_single_threaded && __libc_single_threaded; }
static inline bool p3v_has_byte(FILE *file) { return !p3v_klee && file->_IO_read_ptr < file->_IO_read_end; }
static inline int p3v_take_byte(FILE *file) { return (unsigned char)*file->_IO_read_ptr++; }
/* Not for FILEs that the program uses as wide ones. */
static inline bool p3v_has_room(FILE *file) { return !p3v_klee && file->_IO_write_ptr < file->_IO_write_end; }
static inline int p3v_put_byte(FILE *file, int character) {
  return (unsigned char)(*file->_IO_write_ptr++ = (char)character);
}

/* 0-2 if `file` is that standard stream of the version, else -1. */
int p3v_standard(FILE *file);
/* After descriptor `fd` began to stand for something else: a standard stream that was not used yet takes the
 * buffer that fits it. */
void p3v_rebuffer(int fd);
/* Gives `file` the buffer that glibc would allocate for a FILE on the descriptor; `buffer` has BUFSIZ bytes. */
void p3v_set_buffer(FILE *file, int fd, char *buffer);

/* Before `fd` is closed: epoll forgets it. */
void p3v_unwatch(int fd);
/* What opening a standard stream with O_TRUNC does. */
void p3v_truncate_stream(int fd);

/* open(2) flags of an fopen mode; -1 and EINVAL. */
int p3v_mode_flags(const char *mode);

int *p3v_standard_orientation(int stream);
/* In KLEE: nothing goes to `file` directly any more, and libc learns what orientation that gave it. */
void p3v_leave_to_libc(FILE *file);
int p3v_close_standard(int stream);
bool p3v_is_closed(int stream);
FILE *p3v_reopen_standard(int stream, const char *path, const char *mode);

int SHIM(open)(const char *path, int flags, ...);
int SHIM(close)(int fd);

/* Where the orientation of one of the runtime's cookie FILEs is kept (1: wide, -1: bytes, 0: not chosen);
 * null: the FILE is another one and libc keeps it. */
int *p3v_orientation(FILE *file);
/* Whether a byte function must fail, since the program uses the FILE as a wide one. */
bool p3v_is_wide(FILE *file);
extern bool p3v_any_wide;

#endif
