/* The contract between the parts of the p3-ir runtime and the compiler passes.
 *
 * core/     is linked into a product once. Its symbols keep their names (`p3_*`).
 * version/  is linked into every version before its symbols are renamed, so all of its state
 *           exists once per version. Version i's copy of `p3v_x` ends up as `_PPi_p3v_x`.
 *
 * A shim is a function or variable of version/ named `p3_shim_NAME`. The isolate pass binds
 * every reference of the program to an undefined symbol NAME to the version's own shim. Code in
 * the runtime that says NAME itself gets libc's.
 *
 * errno: around every call that leaves a version (to libc or to core/) the isolate pass copies the
 * version's errno in and out, in the runtime's own version/ code too. So version/ code uses `errno`
 * as any C code does and it is the version's; core/ code sees libc's, and what it leaves there is
 * what the version sees.
 */
#ifndef P3_RUNTIME_H
#define P3_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#define P3_MAX_VERSIONS 16

/* Bits of p3_checks, in the order of `--check`'s words. */
#define P3_CHECK_OUTPUT 1u
#define P3_CHECK_STATUS 2u
#define P3_CHECK_ASSERT 4u
#define P3_CHECK_DIVERGENCE 8u
#define P3_CHECK_RETURNS 16u
#define P3_CHECK_SPEC 32u

#define SHIM(name) p3_shim_##name

/* How a version ended. */
enum p3_end {
  P3_RUNNING = 0,
  P3_EXITED,   /* value: exit status, 0..255 */
  P3_SIGNALED, /* value: signal number */
};

/* What core/ keeps about each version; version/ code reaches its own with `P3_ME`. */
struct p3_state {
  enum p3_end end;
  int value;
  bool assert_failed;
  /* A signal whose default action ends the version and that arrived inside core/ (see p3_inside); 0: none. */
  volatile int doomed;
  FILE *files[3];       /* the version's stdin, stdout, stderr; null: none (in KLEE, where it uses none) */
  /* In KLEE: its stdout and stderr while what is written to them may go straight into the capture, without libc's
   * buffer and what it costs; P3_NO_FILE: libc has to do it, or something else is behind the descriptor by now. */
  FILE *direct[3];
  bool has_bytes[3];    /* something went there so, by which the FILE's orientation is chosen */
  char ***environ_slot; /* the version's own `environ`; null: the process's */
  /* owned by core/switch.c */
  mode_t umask;
  int cwd; /* descriptor of the version's directory while another one owns the process; -1: not saved */
  unsigned cwd_id; /* equal numbers: same directory */
};
extern struct p3_state p3_states[P3_MAX_VERSIONS];
#define P3_NO_FILE ((FILE *)p3_states)

/* A FILE that a version has left open. */
struct p3_file {
  FILE *file;
  void *space;  /* of open_memstream: where libc tells what it has */
  bool foreign; /* made by fopencookie: calls functions of the program */
};

/* The entry points of one version's copy of version/, in core/'s table of versions. */
struct p3_hooks {
  void (*init)(int argc, char **argv, char **envp); /* private argv, envp: the version may keep them */
  void (*run)(void);                                /* constructors, the entry function, exit */
  void (*enter)(void); /* the version begins to own the process: install its process-wide attributes */
  void (*die)(enum p3_end end, int value); /* p3v_die */
  void (*exit)(int status);                /* as if the version called exit */
  void (*ended)(void); /* the version is over and off the stack: discard what it left behind */
  /* in a harness: the FILE that it opened before `after`, null: the last one; null: there are no more */
  const void *(*next_file)(const void *after, struct p3_file *file);
  int *(*error_number)(void); /* where its errno is */
};

/* Emitted by the finish pass. */
extern const int p3_count;                         /* number of versions, 2..16 */
extern const struct p3_hooks *const p3_versions[]; /* p3_count entries */
extern const char *const p3_names[];               /* input file of each version, for messages */
extern const unsigned p3_checks;                   /* P3_CHECK_* */

extern void (*const p3_woven)(void); /* runs all versions together; null: they are not woven */

/* core/rerun.c: p3_woven, or null if they run one after the other after all. */
extern void (*p3_lockstep)(void);

/* A place of a product function where versions have parted, or have returned different values; emitted by the
 * weave pass. */
struct p3_parting {
  struct p3_parting *next; /* reported later than this one */
  unsigned long count;     /* how often it was reported */
  unsigned versions;       /* bit i: version i did other than the first one there */
  enum { P3_PARTING_BRANCH, P3_PARTING_SWITCH, P3_PARTING_CALL, P3_PARTING_RETURN, P3_PARTING_EXIT } kind;
  const char *places[]; /* per version "file:line" or "function()"; null: has no such place */
};
/* core/parting.c: reports that; true: the product shall end here. */
bool p3_parted(struct p3_parting *parting, unsigned versions);

/* core/spec.c: specifications (include/p3.h). */
struct p3_spec;
/* The place of one in a version's code; emitted by the spec pass. */
struct p3_place {
  int version;
  int what; /* P3_ASSERT_, P3_ASSUME_ */
  const char *file;
  int line;
  const char *text;
  unsigned named; /* bit i: version i is */
  /* What p3_spec_end is told, -1: an operand is missing. Null: the version has no code for it. */
  int (*relation)(struct p3_spec *spec, const void *captured);
  /* Gives the operands that another version's code wants by name. Null: there are none. */
  void (*variables)(struct p3_spec *spec, const void *captured, int number);
  unsigned long reached;
};
/* Matched places of versions, which run back to back; emitted by the weave pass. */
struct p3_meeting {
  unsigned versions;
  unsigned long evaluated, failed;
  struct p3_place *places[]; /* null: of no version in the meeting */
};
/* Emitted by the finish pass; null ends them. */
extern struct p3_place *const p3_spec_places[];
extern struct p3_meeting *const p3_spec_meetings[];
/* A version is there; `captured` lives until the meeting is over. */
void p3_spec_reached(struct p3_place *place, const void *captured);
/* All versions of the meeting are there; true: the product shall end here. */
bool p3_spec_evaluate(struct p3_meeting *meeting);
/* Values that have to be equal were compared there: bit i of `others` is set if version i's differ from the first's. */
bool p3_spec_compared(struct p3_meeting *meeting, unsigned others);
/* Called by hand-written product functions (P3_MODEL in include/p3.h): something does not hold. Nonzero: the product
 * shall end. */
int p3_model_failed(int what, const char *file, int line, const char *text);

/* core/marked.c: bytes that a version gives out under a name (pp_output). */
void p3_marked_output(int version, const char *name, const void *bytes, size_t size);
/* What P3_INPUT gives every version under that name; false: there is no such source. */
bool p3_marked_input(int version, void *bytes, size_t size, const char *name);
/* core/spec.c: the program says by the function `text` that the input is of no interest. */
void p3_assumption_failed(const char *text);
/* core/dispatch.c: which of many product functions a call through pointers means. Emitted by the weave pass. */
struct p3_dispatch {
  unsigned count;  /* of entries */
  unsigned width;  /* pointers of an entry: the versions' functions, the first of which is looked for, and what follows */
  unsigned sorted; /* whether the entries are sorted by that */
  const void *entries[];
};
/* The number of the entry of that function, now and at later calls; count if there is none. */
unsigned long p3_dispatch(struct p3_dispatch *table, const void *function);

/* Emitted by the isolate pass in every version. */
extern const int p3v_index;                            /* 0-based number of this version, a constant */
extern const bool p3v_has_destructors;                 /* p3v_user_dtors does something, a constant */
int p3v_user_main(int argc, char **argv, char **envp); /* the entry function, adapted */
void p3v_user_ctors(int argc, char **argv, char **envp);
void p3v_user_dtors(void);
extern const unsigned char p3v_used_streams; /* bit i: the program can reach standard stream i by its name */
extern const unsigned char p3v_has_unknown_calls; /* of code that may write to real descriptors */
#define P3_ME (&p3_states[p3v_index])

/* version/: cleared as the very last step of a version's end, and only by p3v_die. The terminate pass
 * finds every function that can reach p3v_die and makes it return as soon as this is 0. */
extern unsigned char p3v_alive;
/* Not 0 from when the first version's p3v_alive is cleared. Woven code tests this one instead of all of those. */
extern unsigned char p3_ended;
__attribute__((noinline)) void p3v_die(enum p3_end end, int value);
/* The same for ends at which stdio writes nothing any more: all but exit's. */
void p3v_die_at_once(enum p3_end end, int value);
/* core/main.c, in KLEE: bit i is set until version i dies. Behind the last one's death the product ends where it is: to
 * return through all frames would cost more than many paths. */
extern unsigned p3_living;
_Noreturn void p3_end_in_klee(void);

/* version/run.c: what happens between exit() and p3v_die: atexit handlers, destructors, flushing. */
void SHIM(exit)(int status);
void SHIM(_exit)(int status);
void SHIM(abort)(void);

/* core/klee.c: whether KLEE interprets the product. A variable, since it is asked on every path and more than
 * once; nothing of the product runs before main sets it. */
extern bool p3_klee;
static inline bool p3_in_klee(void) { return p3_klee; }

/* core/main.c: this run is one of many in the process (harness/), with no other threads or processes. */
extern bool p3_in_process;

/* core/main.c: prints "p3: ..." on the real stderr and ends the process with status 2. */
_Noreturn void p3_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* core/main.c: crash containment. Natively a version runs under sigsetjmp; p3_crash(signal), called from a handler of core/signals.c on the thread that runs the
 * version's main, records `signal` as its end and leaves its stack; the other versions go on.
 * Only callable while p3_contained() holds, which says that the calling thread is that thread.
 * p3_crash(0): the version's end is recorded already (exit() in a signal handler or on another thread), only
 * its stack is left. */
bool p3_contained(void);
_Noreturn void p3_crash(int signal);
/* Above 0: this thread is in core/ with its data in disorder. A handler must not leave the stack then
 * (p3_crash, siglongjmp) but set p3_states[].doomed and return: core/ ends the version when its data is in
 * order. */
extern _Thread_local int p3_inside;

/* core/switch.c: process-wide attributes (real descriptors 0-2, current directory, umask, libc's environ,
 * locale, signal mask) belong to one version at a time, the owner; -1 before the first one. */
extern int p3_owner;
void p3_enter(int version);
/* The same before a call of `function`, which dlsym may have found: the versions' own change hands by themselves, where
 * they leave the version. */
void p3_enter_for(int version, const void *function);
/* What dlsym has found outside the version. */
void p3_symbol_found(const void *symbol);
/* The version whose current directory, umask, signals and limits are installed, without the rest of what an
 * owner has. In woven products the isolate pass puts a call of p3_touch or p3_enter before every call of a
 * function outside the version to which that matters. */
extern int p3_here;
void p3_touch(int version);
/* The same, if it matters to a call that may wait: if any version does something about signals. */
void p3_take_turn(int version);
/* The version that alone goes on in this process, a forked child; -1 in the product's own process. */
extern int p3_only;
/* In a child, right after fork: drops the other versions' descriptors and sets p3_only. */
void p3_forked(int version);
/* A forked child's end: really ends the process as its version ended. */
_Noreturn void p3_only_end(void);
/* chdir(path), fchdir(real descriptor) if `path` is null, and umask. */
int p3_chdir(int version, const char *path, int real);
/* Around a call of libc that may change the directory; `before` is what the first one returned. */
int p3_directory_before(int version);
void p3_directory_after(int version, int before);
mode_t p3_umask(int version, mode_t mask);
/* The owner's environ pointer changed. Sets libc's. */
void p3_environ_changed(int version);

/* core/fds.c: one descriptor table per version, virtual number -> real descriptor, lowest free number first
 * as in a process of its own. A virtual number above 2 is its own real number whenever that is possible.
 * Real 0-2 mirror the owner's, but are never used for the version's own operations. Every function sets
 * libc's errno. `version` is p3v_index. */

/* The real descriptor that carries the data: for a standard stream the capture or the private copy of the
 * input, else the file itself. Negative numbers (AT_FDCWD, -1) stay as they are; -1/EBADF: not open. */
int p3_fd_real(int version, int fd);
/* The real descriptor that answers questions (fstat, isatty, ioctl, poll, ...): for a captured stream the
 * product's own one, else as p3_fd_real. */
int p3_fd_meta(int version, int fd);
/* Takes `real` over under the lowest free number >= lowest and returns that. -1 stays -1, so
 * `return p3_fd_install(p3v_index, open(...), 0);` is the usual form. Close-on-exec is read from `real`. */
int p3_fd_install(int version, int real, int lowest);
/* The virtual number of a real descriptor of the version; -1: none. */
int p3_fd_number(int version, int real);
int p3_fd_close(int version, int fd);
int p3_fd_dup(int version, int fd, int lowest, bool cloexec);
int p3_fd_dup2(int version, int from, int to, bool cloexec);
int p3_fd_get_cloexec(int version, int fd);
int p3_fd_set_cloexec(int version, int fd, bool on);
/* libc closed the real descriptor behind `fd` (-1) or replaced it by another one. */
void p3_fd_moved(int version, int fd, int real);
void p3_fd_close_range(int version, unsigned first, unsigned last);
/* Reads or writes as read(2)/write(2) on the version's descriptor do, with input log and capture. */
ssize_t p3_fd_read(int version, int fd, void *buffer, size_t size);
ssize_t p3_fd_write(int version, int fd, const void *buffer, size_t size);
ssize_t p3_fd_readv(int version, int fd, const struct iovec *parts, int count);
ssize_t p3_fd_writev(int version, int fd, const struct iovec *parts, int count);
ssize_t p3_fd_pread(int version, int fd, void *buffer, size_t size, off_t offset);
ssize_t p3_fd_pwrite(int version, int fd, const void *buffer, size_t size, off_t offset);
off_t p3_fd_seek(int version, int fd, off_t offset, int whence);
int p3_fd_stat(int version, int fd, struct stat *stat);
int p3_fd_truncate(int version, int fd, off_t size);
int p3_fd_allocate(int version, int fd, int mode, off_t offset, off_t size);
int p3_fd_flags(int version, int fd);                /* F_GETFL */
int p3_fd_set_flags(int version, int fd, int flags); /* F_SETFL */
/* How much a read would get at once from what other versions have already read of something that can be read
 * only once; 0: nothing, or `fd` is something else. -1: an end of file typed on a terminal. */
#define P3_HUNG_UP (-2) /* an end of file, since there was no writer any more */
off_t p3_fd_pending(int version, int fd);
/* Takes back the last `size` bytes that a read of such a descriptor got. */
void p3_fd_unread(int version, int fd, size_t size);
/* Whether it is standard input, which can be read only once, or was made of that. */
bool p3_fd_is_input(int version, int fd);
/* Whether data has to go through p3_fd_read or p3_fd_write, since the real descriptor does not carry it. */
bool p3_fd_is_logged(int version, int fd);
bool p3_fd_is_captured(int version, int fd);
/* fopencookie or fdopen on a virtual descriptor; natively the FILE goes through p3_fd_read and p3_fd_write.
 */
FILE *p3_fd_file(int version, int fd, const char *mode);
/* In a child about to exec: every descriptor of the version without close-on-exec gets its virtual number as
 * real number, all others are closed by the exec. If that fails the table is as good as before. */
void p3_fd_arrange(int version);
/* Moves a descriptor of the runtime itself out of the way (high number, close-on-exec). Takes -1. */
int p3_fd_hide(int real);
/* `path`, or where it names one of the version's descriptors (/dev/stdin, /dev/fd/N, /proc/self/fd/N) a path
 * of the real one, made in `space`. */
#define P3_FD_PATH 40
const char *p3_fd_path(int version, const char *path, char space[P3_FD_PATH]);
/* The number of the descriptor that such a path names; -1: another path. */
int p3_fd_named(const char *path);
/* The version's standard stream whose capture, or another version's of the same stream, is that file; -1: none. */
int p3_fd_of_capture(int version, const struct stat *file);

/* core/fifo.c: whether that is a FIFO of which every version has to get all (or, opened for writing, that is to get
 * what one of them writes), and its other end is not in the product. Any FIFO that is opened has to be told here. */
bool p3_fifo_is_common(int version, const struct stat *found, int flags);
/* Opens one as openat does, in real numbers; the virtual one. */
int p3_fifo_open(int version, const struct stat *found, int directory, const char *path, int flags);
/* The version has made a FIFO there. */
void p3_fifo_made(int directory, const char *path);

/* core/follow.c: from now on everything that the versions wrote is in the files of their captures. Before anything
 * else than the runtime gets to these. */
void p3_captures_complete(void);

/* core/symbolic.c: whether another version has made a value of that name and size symbolic that this version does
 * not have yet; then `object` becomes it. */
bool p3_symbolic_take(int version, void *object, size_t size, const char *name);
/* The version has made `object` symbolic. */
void p3_symbolic_add(int version, const void *object, size_t size, const char *name);

/* core/memory.c, in KLEE. */
/* setvbuf of standard output or error: `kind` as there, `size` of a buffer that the program brings, else 0. */
void p3_memory_buffering(int version, int stream, int kind, size_t size);
/* What stdio has is written. */
void p3_memory_flush(int version, int stream);
/* What stdio has not written is lost: the version ends without flushing. */
void p3_memory_lose(int version);
/* p3_fd_write of what stdio may keep in its buffer still; `fd` is 1 or 2. */
void p3_fd_write_buffered(int version, int fd, const char *bytes, size_t size);
/* Writes to one of p3_state.direct. False: libc has to. */
bool p3_memory_write(int version, FILE *file, const char *bytes, size_t size);
bool p3_memory_put(int version, FILE *file, char byte);
/* The same for printf. Returns its result, -1: libc has to, and begin with the arguments again. */
int p3_memory_print(int version, FILE *file, const char *format, va_list arguments);
/* The version's stream is one of these from now on. */
void p3_memory_begin(int version, int stream);
/* Closes the version's descriptor of that number, if it still is a capture's. */
bool p3_memory_close(int version, int stream);

/* core/show.c: copies what children wrote into the version's captures on to the real descriptors, if the
 * version is shown. Cheap if there is nothing. Call it after waiting for a child, before and while waiting
 * long. Returns 0, or the errno of the real descriptor (EPIPE: nobody reads the product's output any more).
 */
int p3_show(int version);

/* version/stdio_*.c: the version's FILEs. The three standard ones are cookie FILEs over virtual descriptors
 * 0-2 natively, so every libc function that takes a FILE * works on them as it is. */
extern FILE *SHIM(stdin);
extern FILE *SHIM(stdout);
extern FILE *SHIM(stderr);
FILE *SHIM(fdopen)(int fd, const char *mode); /* virtual fd */
int SHIM(fileno)(FILE *file);                 /* virtual fd */
int SHIM(fclose)(FILE *file);
/* Every FILE that the version opens is registered, so that exit flushes it, _exit discards it and
 * fflush(NULL) means this version's. fd: its virtual number; -1: none (a memory stream). */
void p3v_file_add(FILE *file, int fd);
void p3v_file_remove(FILE *file);
void p3v_files_flush(void);
void p3v_files_discard(void);
const void *p3v_files_next(const void *after, struct p3_file *file);

#endif
