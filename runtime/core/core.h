/* What the files of core/ share among themselves; version/ code never sees it. */
#ifndef P3_CORE_H
#define P3_CORE_H

#include "p3_runtime.h"
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* A variable, zero at first, that means nothing from one run of a harness to the next. */
#define P3_KEPT __attribute__((section(".bss.p3_kept")))

/* ---- config.c ---- */

#define P3_NOBODY (-1)

struct p3_config {
  bool controlled; /* the environment has variables that begin with P3_ */
  int show;        /* version whose output is copied to the real streams, P3_NOBODY: none */
  bool show_all;   /* P3_SHOW=all: also say where the others differ from it */
  int status;      /* version whose status the product takes, P3_NOBODY: the combined one */
  int outdir;      /* descriptor of P3_OUTDIR, -1: not asked for */
  bool fuzzed;     /* built for AFL++ or libFuzzer: crashes must reach the fuzzer */
  bool sanitized;  /* built with a sanitizer that handles crash signals itself */
};
extern struct p3_config p3_config;
void p3_config_read(char **environment);
/* Whether a string of the environment is one of these variables. */
bool p3_is_control(const char *variable);
/* The value of a variable whose name begins with P3_; null: not set. */
const char *p3_config_value(char **environment, const char *name);
void p3_config_open_outdir(void);
void p3_config_redirect_reports(void);

/* ---- parting.c ---- */

/* The value of P3_ON_DIVERGENCE, null if there is none. */
void p3_parting_configure(const char *value);
/* Those reported, linked by `next`. */
extern struct p3_parting *p3_partings;
/* Prints a line about it. */
void p3_parting_say(const struct p3_parting *parting, unsigned versions);
/* "branch", "switch", "call", "return" or "exit" */
const char *p3_parting_name(const struct p3_parting *parting);

/* ---- sites.c ---- */

/* Once, behind the captures. */
void p3_sites_init(void);
/* The version is about to call libc there ("file:line" or "function()"). */
void p3_site(int version, const char *site);
/* Which of these calls wrote the byte at `offset`; null: that is not known, or there is none. */
const char *p3_site_of(int version, int stream, off_t offset);

/* ---- klee.c ---- */

/* Sets p3_klee. */
void p3_look_for_klee(void);

/* Size of the object that begins at `object` in KLEE, 0 natively. */
size_t p3_object_size(void *object);
/* `value`, or in KLEE, where it may be symbolic, one of the values that it can have. For messages. */
int p3_example(int value);
/* In KLEE: the path goes on only where that holds. */
void p3_suppose(bool condition);

/* ---- float.c ---- */

/* Exchanges the floating-point environment of `from`, which may be P3_NOBODY, for that of `to`. Natively
 * only. */
void p3_float_switch(int from, int to);

/* ---- format.c ---- */

/* As snprintf; in KLEE only %s and %d are known, and cheap. */
int p3_format(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int p3_vformat(char *text, size_t size, const char *format, va_list arguments);

/* ---- main.c ---- */

/* Ends what p3_inside++ began: ends the version if a signal doomed it meanwhile. */
void p3_settle(int version);
/* Writes to the product's own stderr, whatever the versions did to descriptor 2. */
void p3_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Where that goes instead, -1: there; and who may take such a line away. */
extern int p3_messages;
extern bool (*p3_listener)(const char *line, size_t size);
/* The product is a fuzzer's function (harness/). */
extern bool p3_is_harness;
/* Runs the versions, which are prepared, together or one after the other. */
void p3_run_versions(void);
/* "exit 3", "signal SEGV", as in i.status and report.json. */
void p3_status_text(int version, char *text, size_t size);

/* ---- fds.c ---- */

/* What stands behind a standard descriptor of the product when it starts. */
struct p3_original {
  int fd; /* hidden; -1: closed when the product was started */
  struct stat stat;
  int flags; /* F_GETFL */
  bool tty;
  off_t start; /* offset of a regular file */
};
extern struct p3_original p3_originals[3];

enum p3_kind {
  P3_PLAIN,   /* all operations go to the real descriptor */
  P3_LOG,     /* what can be read only once: reads go through the shared log */
  P3_CAPTURE, /* standard output or error: writes go into the version's capture */
};

struct p3_entry {
  int real; /* -1: free */
  unsigned char kind;
  unsigned char stream; /* of P3_CAPTURE: number of the original; of P3_LOG: of the log */
  bool cloexec;
  bool nonblock; /* of P3_CAPTURE: O_NONBLOCK as the version set it */
};

/* The beginning of the tables, with 0-2 in it. What is closed is of no kind but P3_PLAIN. */
#define P3_FIRST_ENTRIES 32
extern struct p3_entry p3_first_entries[P3_MAX_VERSIONS][P3_FIRST_ENTRIES];

/* The entry of an open descriptor, else null and EBADF. */
struct p3_entry *p3_fd_entry(int version, int fd);
/* The real descriptor that answers questions about it. */
int p3_fd_source(const struct p3_entry *entry);
/* The number of the log behind an open descriptor; -1: there is none. Leaves errno alone. */
int p3_fd_log(int version, int fd);
/* As p3_fd_install, for that log. */
int p3_fd_install_log(int version, int real, int log);
/* How many descriptors the runtime needs for itself. */
int p3_fds_own(void);
void p3_fds_init(void);
/* The same in two steps, with these as the product's streams and nothing else that is inherited. */
void p3_fds_begin(void);
void p3_fds_use(const int streams[3]);
/* Gives the version a descriptor that it is started with. */
void p3_fds_set(int version, int fd, struct p3_entry entry);
void p3_fds_close_all(int version);
/* The lowest number in the table that is not below `fd`; -1: none. */
int p3_fd_next(int version, int fd);
/* Makes real 0-2 what they were when the product started. */
void p3_fds_restore(void);
/* Makes `fd`, which this process was started with, the runtime's own. Takes -1. */
void p3_fd_keep(int fd);
/* Closes a hidden one. */
void p3_fd_discard(int fd);
/* Makes real 0-2 the version's. */
void p3_fds_mirror(int version);

/* ---- switch.c ---- */
void p3_switch_init(void);

/* Mutual exclusion inside core/, with all signals blocked: handlers may use descriptors, too. */
struct p3_guard {
  sigset_t saved;
};
void p3_lock(struct p3_guard *guard);
void p3_unlock(struct p3_guard *guard);

/* ---- capture.c ---- */

/* The captured output of one version on descriptor 1 or 2. Natively a file without a name: `write` is what
 * the version writes to, `read` a second open file description of it. Where the real stream is a regular file
 * the capture has the same offsets, so that seeking means the same in both; its content starts at `base`. In
 * KLEE the bytes are in memory. */
struct p3_capture {
  int write, read;
  bool appends; /* each write goes to the end */
  dev_t device; /* of the file, as is the next */
  ino_t inode;
  off_t base;
  off_t at;     /* where it ends, while p3_follow_is_on */
  bool follows; /* as far as that it is what the first version's is, and not in its file */
  off_t written; /* by calls of this process */
  /* in KLEE, where all that a program has given stdio stands at the end, written or not: */
  char *bytes;
  size_t length, capacity;
  size_t flushed; /* as far as that all is written */
  int buffering;  /* setvbuf's, 0: full */
  size_t buffer;  /* size of stdio's, 0: as for files */
};
extern struct p3_capture p3_captures[P3_MAX_VERSIONS][3]; /* [0] unused */

/* Survives fork shared, so that forked children go on showing where their parent stopped. */
struct p3_shared {
  off_t shown[3]; /* how far the shown version's captures were copied on */
  off_t there[3]; /* how far a first run did that already (rerun.c) */
  off_t limit[3]; /* where the real stream began to fail */
  int error[3];   /* and how; 0: it works */
  bool forked;    /* there are other processes that write */
  _Atomic uint64_t sent[P3_MAX_VERSIONS]; /* signals that children sent the product (signals.c) */
#define P3_FIFOS 64
  _Atomic unsigned fifo_count;
  struct p3_fifo { /* what versions and their children did to a FIFO (fifo.c); there may be several for one */
    dev_t device;
    ino_t inode;
    unsigned uses;
  } fifos[P3_FIFOS];
};
extern struct p3_shared *p3_shared;

void p3_captures_init(void);
/* In a handler that is about to leave everything behind: no other thread is in the middle of showing. */
void p3_captures_quiet(void);
/* After a version left the stack, or in a forked child: nobody is writing any more. */
void p3_captures_unlock(void);
/* One writer at a time, of all threads and processes. False: this thread is already writing there. */
bool p3_capture_lock(int version, int stream);
void p3_capture_unlock(int version, int stream, bool first);
bool p3_is_full_device(const struct stat *stat);
uint64_t p3_file_limit(void); /* how large a file may get; a larger one sends SIGXFSZ */
struct rlimit;
/* Whether a limit that a version has lowered is as high as it may be now; `before` is for p3_limit_return. */
bool p3_limit_lift(int resource, struct rlimit *before);
void p3_limit_return(int resource, const struct rlimit *before);
int p3_temporary_file(void); /* hidden, read-write, no name; -1 and errno */
off_t p3_capture_length(int version, int stream);
/* Bytes [from, from + size) of the output into `bytes`; the number copied. */
size_t p3_capture_get(int version, int stream, off_t from, char *bytes, size_t size);
/* `readable`: all of it is memory that can be read. */
ssize_t p3_capture_writev(int version, struct p3_entry *entry, const struct iovec *parts, int count,
                          bool readable);

/* ---- follow.c ---- */
void p3_follow_init(void);
/* Captures of the stream end where their `at` says. */
bool p3_follow_is_on(int stream);
/* To the end of the version's standard output. Returns as write(2) does, but that only memory that cannot be
 * read or a limit on files makes it less. */
ssize_t p3_follow_keep(int version, const char *bytes, size_t size, bool readable);
/* The file that has the version's standard output up to `end`. */
int p3_follow_source(int version, off_t end);
ssize_t p3_file_write(int fd, const char *bytes, size_t size);

/* ---- relay.c ---- */

/* What programs that the version started have written so far is out. */
void p3_relay_settle(int version);

/* ---- memory.c: captures in KLEE ---- */

/* Any version has written anything. */
extern bool p3_is_captured_in_memory;
void p3_memory_append(struct p3_capture *capture, const char *bytes, size_t size);
/* The same before what stdio has not written. */
void p3_memory_insert(struct p3_capture *capture, const char *bytes, size_t size);
void p3_memory_copy(char *to, const char *from, size_t size);
/* May be symbolic; does not branch on the bytes. */
bool p3_memory_differs(const char *a, const char *b, size_t size);

/* ---- input.c ---- */

/* What versions and their children share about a log. */
#define P3_ENDS 65536
struct p3_log_shared {
  bool nonblock[P3_MAX_VERSIONS]; /* O_NONBLOCK, where the versions have opened it */
  /* Ends of file: offsets in the log, in order, and how many of them a version has seen. */
  size_t count, seen[P3_MAX_VERSIONS];
  off_t at[P3_ENDS];
};

/* Something that can be read only once, of which every version reads all; or a FIFO that one of them writes. */
struct p3_log {
  int real;                     /* where the reading goes on, hidden; -1: this is free */
  int append;                   /* what was read, opened for appending; -1: it is written */
  int cursors[P3_MAX_VERSIONS]; /* it once more, each at the position of a version */
  bool tty;
  bool is_named;                 /* a FIFO that the versions open: the description is the product's own */
  bool is_over;                  /* `real` stands in for a FIFO that nobody needs any more */
  unsigned opens[P3_MAX_VERSIONS]; /* how often each version has opened it */
  unsigned most;                 /* of these */
  unsigned serial;               /* in the order in which they were made */
  off_t written, again;          /* bytes of a FIFO; as many of them have been written by a first run (rerun.c) */
  struct stat stat;              /* of the source */
  int flags;                     /* F_GETFL, without O_NONBLOCK */
  struct p3_log_shared *shared;  /* null: ends of file are not kept */
  _Atomic pid_t reader;          /* the thread that reads from the real descriptor, 0: none */
  _Atomic int busy;              /* threads that read, or open it */
};
#define P3_INPUT_LOG 0 /* the number of standard input's */
#define P3_LOGS 64
extern struct p3_log *p3_logs[P3_LOGS]; /* null: not used yet */

void p3_input_init(void);
/* A log of `real`, a hidden descriptor, which it takes over. -1: that is not possible. With the lock. */
int p3_log_make(int real, const struct stat *stat, bool is_named, bool is_written);
/* Nobody in this process needs it any more. */
void p3_log_drop(int log);
/* Which one of them is the log of an inherited descriptor; -1: none. */
int p3_log_inherited(const struct stat *stat);
/* Whether nobody writes any more what the log has its bytes from; it then has all that there was. False if there is
 * still something from somebody who may write more. */
bool p3_log_complete(int log);
/* The description is given the version's O_NONBLOCK. */
void p3_log_adjust(int log, int version);
ssize_t p3_log_read(int version, int log, char *bytes, size_t size);
/* This thread left reading behind, by a jump or for ever. */
void p3_input_unlock(void);
/* In a forked child. */
void p3_input_forked(void);
/* Puts the last `size` bytes back. */
void p3_log_unread(int version, int log, size_t size);
/* The number of bytes that the version can read from the log alone; -1: an end of file comes next. */
off_t p3_log_pending(int version, int log);

/* What a second run needs; the ends of file follow. */
struct p3_log_record {
  int number, real, append;
  bool is_named, is_over;
  unsigned serial, most;
  off_t written;
  struct stat stat;
  int flags;
  size_t count;
};
/* False: there is no such log. */
bool p3_log_describe(int log, struct p3_log_record *record);
/* Before p3_input_init. */
void p3_log_resume(const struct p3_log_record *record, const off_t *ends);

/* ---- fifo.c ---- */

/* This thread has left opening one behind, by a jump or for ever. */
void p3_fifo_unlock(void);
/* In a forked child. */
void p3_fifo_forked(void);
/* Pipes above 2 that the product was started with are logs. */
void p3_fifo_inherit(void);
/* A version has closed a descriptor of the log, maybe its last one. */
void p3_log_left(int version, int log);
/* A version has ended, or goes on alone in a child: nothing waits for the others. */
void p3_fifo_review(void);
/* Whether what the version writes to it goes to the real one. */
bool p3_log_is_writer(int version);

/* ---- show.c ---- */
bool p3_is_shown(int version);
/* Copies on what is in the capture and not shown yet; with the lock. Returns 0 or an errno. */
int p3_show_rest(int version, int stream);

/* ---- check.c ---- */
struct p3_difference {
  bool found;
  int a, b;           /* versions */
  off_t offset;       /* 0-based */
  off_t line, column; /* 1-based */
  int byte_a, byte_b; /* -1: the output ends there */
};
extern struct p3_difference p3_differences[P3_MAX_VERSIONS]
                                          [3]; /* version i against version 0, streams 1, 2 */
extern bool p3_output_failed, p3_status_failed, p3_assert_failed;
/* Bit i: version i did not end with status 0; with more than 7 versions bit 0 says that of any. */
extern int p3_combined_status;
/* Finds these. */
void p3_checks_run(void);
void p3_checks_say(void);

/* ---- spec.c ---- */
extern bool p3_spec_failed;
/* Specifications in hand-written product functions that did not hold, in the order in which they first did not. */
extern struct p3_model_failure {
  struct p3_model_failure *next;
  struct p3_place place;
  unsigned long count;
} *p3_model_failures;
/* The first assumption that did not hold: the input is of no interest. */
extern const struct p3_place *p3_spec_assumed;
/* In a handler: if this thread was computing a specification, says so and returns true; the product shall end. */
bool p3_spec_crashed(const char *signal);

/* ---- marked.c ---- */
struct p3_mark {
  struct p3_mark *next;
  struct p3_capture captures[P3_MAX_VERSIONS]; /* in memory */
  char name[];
};
/* Null: no version has given out anything under a name. */
extern struct p3_mark *p3_marks;
bool p3_marks_differ(void);
void p3_marks_say(void);
/* Between version 0 and another one; the offset of the first difference if they differ. */
bool p3_mark_differs(const struct p3_mark *mark, int version);
size_t p3_mark_difference(const struct p3_mark *mark, int version);
/* The values of P3_INPUT and P3_INPUT_NAMES (or null): p3_named_bytes.h. */
void p3_marked_open(const char *path, const char *names);
/* Instead of that: these bytes, which stay where they are. */
void p3_marked_give(const void *bytes, size_t size);

/* ---- report.c ---- */
void p3_report_write(void);
/* "SEGV"; null: it has no name. */
const char *p3_signal_name(int number);

#endif
