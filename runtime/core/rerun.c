/* A woven product starts itself again, one version after the other, when a version crashes in lock-step, limits its
 * memory (limits.c), or ends by a signal or on another thread and leaves the main thread running or waiting for it
 * (stop.c).
 *
 * The versions' frames are interleaved on one stack, so those of the one that crashed cannot be thrown away
 * while another one goes on; and after a fault it is not even known whose instruction it was. So the process
 * becomes the product once more, with the same number, arguments and environment, and runs the versions one
 * after the other (main.c), where a crash ends the version that it belongs to. Before that everything is put
 * back that an exec inherits. What cannot be had twice is handed over, by the number of a memory file in
 * P3_RERUN: what was read from a pipe or terminal, the answers that versions were given, how much output has
 * been shown already, and when it all began.
 *
 * p3_rerun runs in a signal handler, on a heap that may be broken: it makes system calls and uses static data
 * only. */
#include "process.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "P3_RERUN"
#define MAGIC 0x6e75722d33703201ull

void (*p3_lockstep)(void);

/* What the first run hands over; its logs follow, each with the ends of file in it. */
static struct handed {
  uint64_t magic;
  pid_t process;
  int signal;       /* of the crash, or P3_RERUN_... */
  int answers;      /* a descriptor, -1: none */
  int logs;
  bool session_led;
  struct p3_times times;
  struct {
    off_t start, size; /* of the real stream when the product was started */
    off_t shown;       /* bytes that it has got */
    off_t room;        /* how much it takes before it fails with `error`, if that is not 0 */
    int error;
  } streams[3];
} handed;
static bool is_second;

/* Kept for a second run. */
static bool is_possible;
static char **arguments, **environment;
static int directory = -1; /* the first one, once a version has left it */
static mode_t mask;
static off_t input_offset;
#define INHERITED 64
static struct inherited {
  int fd, copy;
  off_t offset;
} inherited[INHERITED];
static int inherited_count;
#define CHILDREN 256
static pid_t children[CHILDREN];
static unsigned child_count;

/* ---- the first run prepares ---- */

static void take_log(int fd) {
  struct p3_log_record record;
  if (read(fd, &record, sizeof record) != (ssize_t)sizeof record)
    p3_fatal("cannot go on with what was read");
  size_t size = record.count * sizeof(off_t);
  off_t *ends = size ? malloc(size) : NULL;
  if (size && (!ends || read(fd, ends, size) != (ssize_t)size))
    p3_fatal("out of memory");
  p3_log_resume(&record, ends);
  free(ends);
}

static bool take_over(const char *number) {
  int fd = 0;
  for (; *number >= '0' && *number <= '9' && fd < 1 << 20; number++)
    fd = 10 * fd + (*number - '0');
  ssize_t got = pread(fd, &handed, sizeof handed, 0);
  if (got != (ssize_t)sizeof handed || handed.magic != MAGIC || handed.process != getpid())
    return false;
  lseek(fd, sizeof handed, SEEK_SET);
  for (int i = 0; i < handed.logs; i++)
    take_log(fd);
  close(fd);
  p3_answers_resume(handed.answers);
  p3_clock_resume(&handed.times);
  p3_session_led = handed.session_led;
  return true;
}

void p3_rerun_start(char **argv, char **envp) {
  p3_lockstep = p3_woven;
  if (p3_in_klee() || !p3_woven || p3_config.fuzzed || p3_config.sanitized)
    return;
  const char *number = p3_config_value(envp, NAME);
  is_second = number && take_over(number);
  if (is_second)
    p3_lockstep = NULL;
  is_possible = !number; /* once only, whatever it says */
  arguments = argv;
  environment = envp;
}

/* Where the real stream is a file with positions, the versions write into it once more from the same place
 * on; else they must not show again what it has got. */
static bool is_rewound(const struct p3_original *original) {
  return S_ISREG(original->stat.st_mode) && !(original->flags & O_APPEND);
}

void p3_rerun_streams(void) {
  if (is_possible) {
    mask = p3_states[0].umask;
    if (p3_originals[0].fd >= 0)
      input_offset = lseek(p3_originals[0].fd, 0, SEEK_CUR);
  }
  for (int stream = 1; is_second && stream <= 2; stream++)
    if (p3_originals[stream].fd >= 0) {
      p3_originals[stream].start = handed.streams[stream].start;
      p3_originals[stream].stat.st_size = handed.streams[stream].size;
    }
}

void p3_rerun_captures(void) {
  for (int stream = 1; is_second && stream <= 2; stream++) {
    off_t base = p3_captures[0][stream].base;
    if (handed.streams[stream].shown)
      p3_shared->there[stream] = base + handed.streams[stream].shown;
    if (handed.streams[stream].error) {
      p3_shared->error[stream] = handed.streams[stream].error;
      p3_shared->limit[stream] = base + handed.streams[stream].room;
    }
  }
}

void p3_rerun_inherited(int fd) {
  if (!is_possible || inherited_count == INHERITED)
    return;
  int copy = p3_fd_hide(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (copy >= 0)
    inherited[inherited_count++] = (struct inherited){fd, copy, lseek(fd, 0, SEEK_CUR)};
}

void p3_rerun_directory(int fd) {
  if (is_possible && directory < 0)
    directory = p3_fd_hide(fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

void p3_rerun_child(pid_t real) {
  if (is_possible)
    children[child_count++ % CHILDREN] = real;
}

/* ---- the report ---- */

void p3_rerun_reason(char *text, size_t size) {
  *text = 0;
  if (!is_second)
    return;
  static const char reasons[][96] = {
      [-P3_RERUN_STALLED] = "a version ended on another thread than main's, which stalled in lock-step",
      [-P3_RERUN_SHARED] = "the system did not allow threads to have directories of their own (unshare)",
      [-P3_RERUN_LIMIT] = "a version limited its memory or processor time, which in lock-step would bind the others",
      [-P3_RERUN_BUSY] = "a signal ended a version in lock-step that did not get to a call behind which it would leave",
      [-P3_RERUN_ABANDONED] = "a version ended in code of a library, or on a stack that does not lead back to main's",
      [-P3_RERUN_TWICE] = "a version came back a second time to a call of swapcontext, where others had gone on",
  };
  if (handed.signal <= 0) {
    p3_format(text, size, "%s", reasons[-handed.signal]);
    return;
  }
  const char *name = p3_signal_name(handed.signal);
  for (int i = 0; i < p3_count; i++)
    if (p3_states[i].end == P3_SIGNALED && p3_states[i].value == handed.signal) {
      p3_format(text, size, "version %d ended with signal %s in lock-step", i + 1, name ? name : "?");
      return;
    }
  p3_format(text, size, "signal %s in lock-step", name ? name : "?");
}

/* ---- the crash ---- */

/* Besides the one that crashed, if one did. */
static bool others_go_on(int signal) {
  int going = signal > 0 ? -1 : 0;
  for (int i = 0; i < p3_count; i++)
    going += !p3_has_ended(i);
  return going > 0;
}

/* A version that runs again starts its own again. One that is waited for here cannot be mistaken for another
 * process that has its number now. */
static void end_children(void) {
  for (unsigned i = 0; i < CHILDREN && i < child_count; i++) {
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)children[i], &info, WEXITED | WNOWAIT | WNOHANG) != 0)
      continue;
    kill(children[i], SIGKILL);
    while (waitpid(children[i], NULL, 0) < 0 && errno == EINTR)
      ;
  }
}

static void put_back_attributes(void) {
  if (directory >= 0)
    (void)!fchdir(directory);
  umask(mask);
  p3_limits_restore();
  struct itimerval off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_VIRTUAL, &off, NULL);
  setitimer(ITIMER_PROF, &off, NULL);
}

static void close_on_exec(unsigned from) {
  if (syscall(SYS_close_range, from, ~0u, 1u << 2) == 0) /* CLOSE_RANGE_CLOEXEC */
    return;
  for (int fd = (int)from; fd < 1 << 16; fd++)
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void keep(int fd) {
  if (fd >= 0)
    fcntl(fd, F_SETFD, 0);
}

static void put_back_descriptors(void) {
  close_on_exec(3);
  for (int i = 0; i < inherited_count; i++) {
    if (inherited[i].offset >= 0)
      lseek(inherited[i].copy, inherited[i].offset, SEEK_SET);
    dup2(inherited[i].copy, inherited[i].fd);
  }
  for (int fd = 0; fd <= 2; fd++) {
    const struct p3_original *original = &p3_originals[fd];
    if (original->fd < 0)
      continue;
    fcntl(original->fd, F_SETFL, original->flags);
    if (fd == 0 && input_offset >= 0)
      lseek(original->fd, input_offset, SEEK_SET);
    if (fd > 0 && is_rewound(original))
      lseek(original->fd, original->start, SEEK_SET);
  }
  p3_fds_restore();
}

static void describe(int signal) {
  handed = (struct handed){.magic = MAGIC, .process = getpid(), .signal = signal};
  handed.answers = p3_answers_file();
  handed.session_led = p3_session_led;
  p3_clock_hand_over(&handed.times);
  for (int stream = 1; stream <= 2; stream++) {
    const struct p3_original *original = &p3_originals[stream];
    off_t base = p3_captures[0][stream].base;
    handed.streams[stream].start = original->start;
    handed.streams[stream].size = original->stat.st_size;
    if (p3_config.show != P3_NOBODY && !is_rewound(original))
      handed.streams[stream].shown = p3_shared->shown[stream] - base;
    /* Whoever is shown meets the error again. */
    if (p3_config.show == P3_NOBODY) {
      handed.streams[stream].error = p3_shared->error[stream];
      handed.streams[stream].room = p3_shared->limit[stream] - base;
    }
  }
}

/* A log is in the file, and its descriptors are inherited. */
static bool put_log(int fd, int number) {
  struct p3_log_record record;
  if (!p3_log_describe(number, &record))
    return true;
  keep(record.real);
  keep(record.append);
  handed.logs++;
  ssize_t size = (ssize_t)(record.count * sizeof(off_t));
  return write(fd, &record, sizeof record) == (ssize_t)sizeof record &&
         (!size || write(fd, p3_logs[number]->shared->at, size) == size);
}

/* The number of a file with `handed` and the logs; -1. */
static int hand_over(void) {
  for (int i = 0; i < p3_count; i++) /* in case no descriptor is left */
    for (int stream = 1; stream <= 2; stream++)
      if (p3_originals[stream].fd >= 0)
        close(p3_captures[i][stream].write);
  int made = memfd_create("p3", 0), fd = fcntl(made, F_DUPFD, 3);
  if (fd < 0)
    return -1;
  lseek(fd, sizeof handed, SEEK_SET);
  for (int i = 0; i < P3_LOGS; i++)
    if (!put_log(fd, i))
      return -1;
  if (pwrite(fd, &handed, sizeof handed, 0) != (ssize_t)sizeof handed)
    return -1;
  close(made);
  return fd;
}

/* The original environment, and the number in it. Null: no memory. */
static char **make_environment(int number) {
  static char variable[sizeof NAME + 12] = NAME "=";
  char digits[12], *to = variable + sizeof NAME;
  int length = 0;
  do
    digits[length++] = (char)('0' + number % 10);
  while (number /= 10);
  while (length)
    *to++ = digits[--length];
  *to = 0;
  size_t count = 0;
  while (environment[count])
    count++;
  char **list =
      mmap(NULL, (count + 2) * sizeof *list, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (list == MAP_FAILED)
    return NULL;
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (strncmp(environment[i], variable, sizeof NAME) != 0)
      list[kept++] = environment[i];
  list[kept] = variable;
  return list;
}

/* By the name that it was started with, if that still means the same: the system shows it. */
static void execute(char **list) {
  int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const char *name = (const char *)getauxval(AT_EXECFN);
  struct stat mine, named;
  if (self >= 0 && name && fstat(self, &mine) == 0 && stat(name, &named) == 0 &&
      mine.st_dev == named.st_dev && mine.st_ino == named.st_ino)
    execve(name, arguments, list);
  if (self >= 0)
    syscall(SYS_execveat, self, "", arguments, list, AT_EMPTY_PATH);
}

static _Noreturn void die(int signal) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigaction(signal, &standard, NULL);
  kill(getpid(), signal);
  pthread_sigmask(SIG_UNBLOCK, &only, NULL);
  _exit(128 + signal);
}

bool p3_rerun_is_possible(void) { return is_possible && p3_only < 0 && p3_on_stack >= 0; }

void p3_rerun(int signal) {
  static atomic_flag begun = ATOMIC_FLAG_INIT;
  if (!p3_rerun_is_possible() || !others_go_on(signal))
    return;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  while (atomic_flag_test_and_set(&begun)) /* another thread was quicker, and takes this one with it */
    pause();
  end_children();
  for (int i = 0; i < p3_count; i++)
    p3_relay_settle(i);
  p3_captures_quiet();
  p3_stop_others();
  describe(signal);
  put_back_attributes();
  put_back_descriptors();
  int fd = hand_over();
  keep(handed.answers);
  char **list = fd < 0 ? NULL : make_environment(fd);
  p3_signals_rerun();
  if (list)
    execute(list);
  die(signal > 0 ? signal : SIGABRT);
}
