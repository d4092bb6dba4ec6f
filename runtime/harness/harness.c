/* The product as a fuzzer's function: one run of all versions per call, in this process.
 *
 * Once: descriptors, captures and the copy of all variables. Each run: the template makes arguments, input and
 * files of the data, the versions begin as in a product that runs once, and at the end everything is taken back:
 * FILEs, descriptors, memory, what libc keeps per process, and then all variables at once (snapshot.c).
 *
 * The standard streams are regular files in memory (memfd): every function that takes a descriptor works on
 * them as it is. So a version behaves as alone with its input, output and error redirected from and to files.
 *
 * A run that forks, starts a thread, sends a signal or changes what a process cannot change back is given up at
 * that call and made again in a child process, where all of that works as in any product. */
#include "harness.h"
#include "core/process.h"
#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <locale.h>
#include <setjmp.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Programs leave memory to their end, and are told by sanitizers when they lose some. Here none ends. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

extern char **environ;

/* The bounds of libFuzzer's counters of what was reached; null: there are none. Not as variables, since the pass
 * that makes the counters would find the names taken. */
#define BOUND(name)                                                                                          \
  ({                                                                                                         \
    char *bound;                                                                                             \
    __asm__(".weak " name "\n\tmovq " name "@GOTPCREL(%%rip), %0" : "=r"(bound));                            \
    bound;                                                                                                   \
  })
#define COUNTERS BOUND("__start___sancov_cntrs")
#define COUNTERS_END BOUND("__stop___sancov_cntrs")
__attribute__((weak)) void LLVMFuzzerRunDriver(void);
extern __attribute__((weak)) unsigned char *__afl_area_ptr;

static bool is_ready, is_tied;
static struct p3_template template;
static const char *program;
static int real_streams[3];               /* the fuzzer's, hidden; -1: closed */
static int input_file;                    /* holds the bytes of the standard input */
static int inputs[P3_MAX_VERSIONS];       /* open file descriptions of that */
static size_t file_count;                 /* in the template */
static int directories[P3_MAX_VERSIONS];  /* where the versions find them */
static char directory_path[PATH_MAX - 64];
static int first_directory;
static struct p3_shared first_shared;
static mode_t first_umask;
static char **first_environ;

/* The environment of a version in one block: an array of pointers, then the strings. */
static char *environment;
static size_t environment_size, environment_count;

static struct p3_input input;
static const uint8_t *run_data;
static size_t run_size;
static sigjmp_buf end_of_run;
enum { ONGOING, LEFT, FAILED };

/* ---- once ---- */

static int memory_file(const char *name) {
  int fd = p3_fd_hide(memfd_create(name, MFD_CLOEXEC));
  if (fd < 0)
    p3_fatal("cannot make a file in memory: %s", strerror(errno));
  return fd;
}

static int reopen(int fd, int flags) {
  char path[P3_FD_PATH];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int again = p3_fd_hide(open(path, flags | O_CLOEXEC));
  if (again < 0)
    p3_fatal("%s: %s", path, strerror(errno));
  return again;
}

static void prepare_environment(void) {
  size_t text = 0;
  for (char **at = environ; *at; at++)
    if (!p3_is_control(*at)) {
      text += strlen(*at) + 1;
      environment_count++;
    }
  size_t table = (environment_count + 1) * sizeof(char *);
  environment_size = table + text;
  environment = calloc(1, environment_size);
  if (!environment)
    p3_fatal("out of memory");
  char *to = environment + table;
  size_t next = 0;
  for (char **at = environ; *at; at++)
    if (!p3_is_control(*at)) {
      ((size_t *)environment)[next++] = (size_t)(to - environment);
      to = stpcpy(to, *at) + 1;
    }
}

static void remove_directories(void) {
  for (int i = 0; i < p3_count; i++) {
    char path[PATH_MAX];
    for (size_t k = 0; k < file_count; k++) {
      snprintf(path, sizeof path, "%s/%d/%s", directory_path, i + 1, p3_template_file(k));
      unlink(path);
    }
    snprintf(path, sizeof path, "%s/%d", directory_path, i + 1);
    rmdir(path);
  }
  rmdir(directory_path);
}

static void prepare_directories(void) {
  const char *parent = getenv("TMPDIR");
  snprintf(directory_path, sizeof directory_path, "%s/p3-XXXXXX", parent && *parent ? parent : "/tmp");
  if (!mkdtemp(directory_path))
    p3_fatal("cannot make a directory %s: %s", directory_path, strerror(errno));
  for (int i = 0; i < p3_count; i++) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%d", directory_path, i + 1);
    if (mkdir(path, 0700) != 0 ||
        (directories[i] = p3_fd_hide(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))) < 0)
      p3_fatal("%s: %s", path, strerror(errno));
  }
  atexit(remove_directories);
}

/* What the fuzzer has open is nobody else's. */
static void keep_descriptors(void) {
  DIR *directory = opendir("/proc/self/fd");
  for (struct dirent *entry; directory && (entry = readdir(directory));) {
    int fd = atoi(entry->d_name);
    if (fd > 2 && fd != dirfd(directory))
      p3_fd_keep(fd);
  }
  if (directory)
    closedir(directory);
}

static void prepare(void) {
  is_ready = true;
  p3_is_harness = true;
  p3_config_read(environ);
  p3_config.fuzzed = true;
  p3_config.show = p3_config.status = P3_NOBODY;
  p3_config.show_all = false;
  const char *text = p3_config_value(environ, "P3_TEMPLATE");
  const char *findings = p3_config_value(environ, "P3_FINDINGS");
  program = p3_config_value(environ, "P3_PROGRAM");
  program = program ? program : "prog";

  int streams[3];
  p3_fds_begin();
  keep_descriptors();
  for (int fd = 0; fd <= 2; fd++)
    real_streams[fd] = p3_fd_hide(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  p3_messages = real_streams[2];
  input_file = memory_file("stdin");
  streams[0] = reopen(input_file, O_RDONLY);
  streams[1] = reopen(memory_file("stdout"), O_WRONLY);
  streams[2] = reopen(memory_file("stderr"), O_WRONLY);
  p3_fds_use(streams);
  p3_config_redirect_reports();
  p3_template_parse(&template, text ? text : "@stdin:1048576");
  for (size_t i = 0; i < template.count; i++)
    file_count += template.words[i].kind == P3_FILE;
  if (findings)
    p3_findings_open(findings);
  if (p3_checks & (P3_CHECK_DIVERGENCE | P3_CHECK_RETURNS) && findings &&
      !p3_config_value(environ, "P3_ON_DIVERGENCE"))
    p3_parting_configure("count");
  if (file_count)
    prepare_directories();
  first_directory = p3_fd_hide(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  first_environ = environ;
  prepare_environment();

  p3_switch_init();
  first_umask = p3_states[0].umask;
  p3_captures_init();
  p3_sites_init();
  first_shared = *p3_shared;
  p3_limits_start();
  for (int i = 0; i < p3_count; i++) {
    inputs[i] = reopen(input_file, O_RDONLY);
    p3_fds_close_all(i);
  }
  p3_lockstep = p3_woven;
  p3_snapshot_take();
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  if (!is_ready)
    prepare();
  /* libFuzzer's own output goes to a descriptor of its own then, whatever stands behind 2. AFL++'s driver has
   * the same function, and takes any option for a number of runs. */
  if (!LLVMFuzzerRunDriver || &__afl_area_ptr)
    return 0;
  static char flag[] = "-close_fd_mask=2";
  for (int i = 1; i < *argc; i++)
    if (strncmp((*argv)[i], flag, sizeof flag - 2) == 0)
      return 0;
  char **more = malloc(((size_t)*argc + 2) * sizeof *more);
  if (!more)
    return 0;
  memcpy(more, *argv, (size_t)*argc * sizeof *more);
  more[*argc] = flag;
  more[*argc + 1] = NULL;
  *argv = more;
  ++*argc;
  return 0;
}

/* ---- a run begins ---- */

static void write_all(int fd, struct p3_bytes bytes) {
  while (bytes.size) {
    ssize_t done = write(fd, bytes.at, bytes.size);
    if (done < 0 && errno != EINTR)
      p3_fatal("cannot write the input: %s", strerror(errno));
    if (done > 0) {
      bytes.at += done;
      bytes.size -= (size_t)done;
    }
  }
}

static void make_files(int version) {
  for (size_t k = 0; k < input.files; k++) {
    int fd = openat(directories[version], p3_template_file(k), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
      p3_fatal("%s: %s", directory_path, strerror(errno));
    write_all(fd, input.file[k]);
    close(fd);
  }
}

static void enter_directory(int version) {
  struct p3_state *state = &p3_states[version];
  state->cwd_id = 1u << 31 | (unsigned)version;
  if (version == 0)
    (void)!fchdir(directories[0]);
  else
    state->cwd = fcntl(directories[version], F_DUPFD_CLOEXEC, directories[version]);
}

static void give_streams(int version) {
  lseek(inputs[version], 0, SEEK_SET);
  for (int stream = 0; stream <= 2; stream++) {
    int carrier = inputs[version];
    if (stream) {
      carrier = p3_captures[version][stream].write;
      if (lseek(carrier, 0, SEEK_SET) != lseek(carrier, 0, SEEK_END)) {
        (void)!ftruncate(carrier, 0);
        lseek(carrier, 0, SEEK_SET);
      }
    }
    struct p3_entry entry = {.real = fcntl(carrier, F_DUPFD_CLOEXEC, carrier), .stream = (unsigned char)stream,
                             .kind = stream ? P3_CAPTURE : P3_PLAIN};
    p3_fds_set(version, stream, entry);
  }
}

static char *make_argument(struct p3_bytes bytes) {
  char *argument = p3_heap_hold(malloc(bytes.size + 1), free);
  if (!argument)
    p3_fatal("out of memory");
  memcpy(argument, bytes.at, bytes.size);
  argument[bytes.size] = '\0';
  return argument;
}

static void begin_version(int version) {
  if (file_count) {
    make_files(version);
    enter_directory(version);
  }
  give_streams(version);
  char **argv = p3_heap_hold(malloc((input.count + 2) * sizeof *argv), free);
  char *block = p3_heap_hold(malloc(environment_size), free);
  if (!argv || !block)
    p3_fatal("out of memory");
  argv[0] = make_argument((struct p3_bytes){(const uint8_t *)program, strlen(program)});
  for (size_t i = 0; i < input.count; i++)
    argv[i + 1] = make_argument(input.arguments[i]);
  argv[input.count + 1] = NULL;
  memcpy(block, environment, environment_size);
  char **envp = (char **)block;
  for (size_t i = 0; i < environment_count; i++)
    envp[i] = block + ((size_t *)environment)[i];
  p3_versions[version]->init((int)input.count + 1, argv, envp);
}

/* ---- and ends ---- */

static void empty_directory(int fd) {
  int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = again < 0 ? NULL : fdopendir(again);
  for (struct dirent *entry; list && (entry = readdir(list));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
      continue;
    if (unlinkat(fd, entry->d_name, 0) == 0)
      continue;
    int inner = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
      continue;
    fchmod(inner, 0700);
    empty_directory(inner);
    close(inner);
    unlinkat(fd, entry->d_name, AT_REMOVEDIR);
  }
  if (list)
    closedir(list);
}

static void restore_process(void) {
  bool moved = false, masked = false;
  for (int i = 0; i < p3_count; i++) {
    moved |= p3_states[i].cwd_id != 0;
    masked |= p3_states[i].umask != first_umask;
    if (p3_states[i].cwd >= 0)
      close(p3_states[i].cwd);
  }
  if (moved)
    (void)!fchdir(first_directory);
  if (masked)
    umask(first_umask);
  for (int fd = 0; fd <= 2 && p3_owner >= 0; fd++) {
    if (real_streams[fd] >= 0)
      dup2(real_streams[fd], fd);
    else
      close(fd);
  }
  environ = first_environ;
  uselocale(LC_GLOBAL_LOCALE);
  fesetenv(FE_DFL_ENV);
  p3_outside_reset();
  for (int i = 0; file_count && i < p3_count; i++)
    empty_directory(directories[i]);
}

/* The binary interface of libc: where a cookie FILE has its functions, and a FILE of open_memstream the places
 * that it reports to. Both may lead to what is gone: closing must not touch it. */
#define FUNCTIONS (sizeof(FILE) + 2 * sizeof(void *))
#define PLACES (sizeof(FILE) + 3 * sizeof(void *))

static void close_file(struct p3_file *open) {
  static char *bytes;
  static size_t size;
  char *fields = (char *)open->file;
  void *places[2] = {&bytes, &size};
  if (open->foreign)
    memset(fields + FUNCTIONS, 0, sizeof(cookie_io_functions_t));
  if (open->space && memcmp(fields + PLACES, &open->space, sizeof open->space) != 0)
    return;
  if (open->space)
    memcpy(fields + PLACES, places, sizeof places);
  bytes = NULL;
  __fpurge(open->file);
  fclose(open->file);
  free(bytes);
}

static void close_files(int version) {
  struct p3_file file;
  const void *last = NULL, *next;
  for (; (next = p3_versions[version]->next_file(last, &file)); last = next)
    close_file(&file);
  for (int stream = 0; stream < 3; stream++)
    if (p3_states[version].files[stream]) {
      file = (struct p3_file){.file = p3_states[version].files[stream]};
      close_file(&file);
    }
}

static void take_back(void) {
  for (int i = 0; i < p3_count; i++)
    close_files(i);
  for (int i = 0; i < p3_count; i++)
    p3_fds_close_all(i);
  restore_process();
  p3_heap_release();
  p3_heap_watched = false;
  /* p3_in_process with them */
  *p3_shared = first_shared;
  p3_snapshot_restore();
}

/* Without a word about it if there is a place for findings. */
static void judge(bool failed) {
  p3_findings_end(failed, run_data, run_size);
  if (failed && !p3_findings_wanted())
    abort();
}

static bool is_equal_output(int version, int stream) {
  static char a[1 << 12], b[1 << 12];
  off_t size = p3_capture_length(0, stream);
  if (size != p3_capture_length(version, stream))
    return false;
  return size == 0 || (size <= (off_t)sizeof a && p3_capture_get(0, stream, 0, a, (size_t)size) == (size_t)size &&
                       p3_capture_get(version, stream, 0, b, (size_t)size) == (size_t)size &&
                       memcmp(a, b, (size_t)size) == 0);
}

/* The usual case needs no close look. */
static bool is_equal(void) {
  for (int i = 0; i < p3_count; i++) {
    const struct p3_state *state = &p3_states[i];
    if (state->end != p3_states[0].end || state->value != p3_states[0].value || state->assert_failed)
      return false;
    for (int stream = 1; stream <= 2 && i > 0; stream++)
      if (!is_equal_output(i, stream))
        return false;
  }
  return true;
}

static void compare(void) {
  if (is_equal())
    return;
  p3_checks_run();
  p3_checks_say();
}

void p3_harness_verdict(void) { siglongjmp(end_of_run, FAILED); }

void p3_leave_process(void) {
  if (p3_in_process)
    siglongjmp(end_of_run, LEFT);
}

static void begin_all(void) {
  for (size_t i = 0; i < template.count; i++)
    if (template.words[i].kind == P3_MARKED)
      p3_marked_give(input.marked.at, input.marked.size);
  for (int i = 0; i < p3_count; i++)
    begin_version(i);
}

/* In a child: as a product that runs once. */
static _Noreturn void run_in_child(void *counters, size_t size) {
  p3_config.fuzzed = false;
  p3_config.sanitized = true; /* crashes are still the fuzzer's */
  p3_findings_begin();
  int verdict = sigsetjmp(end_of_run, 0);
  if (!verdict) {
    begin_all();
    p3_process_start();
    p3_run_versions();
    p3_process_stop();
    compare();
  }
  judge(verdict == FAILED);
  if (size)
    memcpy(counters, COUNTERS, size);
  _exit(0);
}

static void run_apart(void) {
  static void *counters;
  size_t size = (size_t)(COUNTERS_END - COUNTERS);
  if (size && !counters) {
    counters = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counters == MAP_FAILED)
      p3_fatal("out of memory");
  }
  if (size)
    memcpy(counters, COUNTERS, size);
  pid_t parent = getpid(), child = fork();
  if (child < 0)
    p3_fatal("cannot fork: %s", strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
    run_in_child(counters, size);
  }
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (size)
    memcpy(COUNTERS, counters, size);
  if (status != 0) {
    /* It has said why. */
    abort();
  }
}

static void run_here(void) {
  for (int i = 0; i < p3_count && !p3_lockstep; i++) {
    p3_enter(i);
    p3_versions[i]->run();
  }
  if (p3_lockstep) {
    p3_enter(0);
    p3_lockstep();
  }
  for (int i = 0; i < p3_count; i++)
    p3_versions[i]->ended();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!is_ready)
    prepare();
  if (&__afl_area_ptr && !is_tied) {
    /* AFL++'s process waits stopped between runs, in a session of its own: nobody would end it if AFL++ is killed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    is_tied = true;
  }
  p3_template_decode(&template, data, size, &input);
  run_data = data;
  run_size = size;
  (void)!ftruncate(input_file, 0);
  lseek(input_file, 0, SEEK_SET);
  write_all(input_file, input.stdin);
  p3_findings_begin();
  p3_in_process = p3_heap_watched = true;
  int verdict = sigsetjmp(end_of_run, 0);
  if (!verdict) {
    begin_all();
    run_here();
    compare();
  }
  if (verdict != LEFT)
    judge(verdict == FAILED);
  take_back();
  if (verdict == LEFT)
    run_apart();
  return 0;
}
