/* One descriptor table per version.
 *
 * A version must see the numbers that it would see alone: the lowest free one, whatever the other versions
 * and the runtime have open. So its numbers are virtual. A number above 2 is its own real number whenever
 * that one is free, since code that the runtime does not know (libraries, children) uses real numbers. The
 * real descriptors behind 0-2 are hidden (high numbers); real 0-2 only mirror those of the owner.
 *
 * Lookups take no lock: chunks of the table are never moved. Changes are made under the lock.
 *
 * In KLEE the same table is used, but nothing is moved or mirrored. */
#include "process.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CHUNK P3_FIRST_ENTRIES
#define CHUNKS 2048

#define EMPTY {[0 ... CHUNK - 1] = {.real = -1}}
struct p3_entry p3_first_entries[P3_MAX_VERSIONS][CHUNK] = {[0 ... P3_MAX_VERSIONS - 1] = EMPTY};
/* When all are closed, as at the end of a run, the table is as good as new. */
static struct p3_entry *tables[P3_MAX_VERSIONS][CHUNKS] P3_KEPT;

/* Chunks of that number and above are null. */
static int chunk_counts[P3_MAX_VERSIONS] P3_KEPT;

struct p3_original p3_originals[3];

/* The runtime's own descriptors start here. They stay under FD_SETSIZE, since select must be able to name
 * them, and above what programs use. */
static int hidden_from = 3;
#define HIDDEN_MAX 1024
#define IS_HIDDEN(fd) (hidden[(fd) / 8 % (HIDDEN_MAX / 8)] >> (fd) % 8 & 1)
static unsigned char hidden[HIDDEN_MAX / 8];

static struct p3_entry *fresh_chunk(void) {
  struct p3_entry *fresh = malloc(CHUNK * sizeof *fresh);
  for (int i = 0; fresh && i < CHUNK; i++)
    fresh[i] = (struct p3_entry){.real = -1};
  return fresh;
}

static struct p3_entry *slot(int version, int fd) {
  struct p3_entry *chunk = (unsigned)fd < CHUNK * CHUNKS ? tables[version][fd / CHUNK] : NULL;
  return chunk ? chunk + fd % CHUNK : NULL;
}

static struct p3_entry *make_slot(int version, int fd) {
  if ((unsigned)fd < CHUNK * CHUNKS && !tables[version][fd / CHUNK]) {
    tables[version][fd / CHUNK] = fd < CHUNK ? p3_first_entries[version] : fresh_chunk();
    if (tables[version][fd / CHUNK] && chunk_counts[version] <= fd / CHUNK)
      chunk_counts[version] = fd / CHUNK + 1;
  }
  return slot(version, fd);
}

/* Something else is to stand behind the number. */
static void change(int version, int fd, struct p3_entry *entry, struct p3_entry like) {
  *entry = like;
  if (fd <= 2)
    p3_states[version].direct[fd] = P3_NO_FILE;
}

/* These questions leave errno alone: what asks them succeeds. */
static bool is_open(int real) {
  int saved = errno;
  bool open = fcntl(real, F_GETFD) >= 0;
  errno = saved;
  return open;
}

/* Whether a version or the runtime knows the real descriptor. */
static bool is_known(int real) {
  if (real < 3 || (real < HIDDEN_MAX && IS_HIDDEN(real)))
    return true;
  for (int i = 0; i < p3_count; i++)
    for (int c = 0; c < chunk_counts[i]; c++)
      for (int k = 0; tables[i][c] && k < CHUNK; k++)
        if (tables[i][c][k].real == real)
          return true;
  return false;
}

int p3_fd_number(int version, int real) {
  struct p3_entry *same = slot(version, real);
  if (same && same->real == real)
    return real;
  for (int c = 0; c < chunk_counts[version]; c++)
    for (int k = 0; tables[version][c] && k < CHUNK; k++)
      if (tables[version][c][k].real == real)
        return c * CHUNK + k;
  return -1;
}

/* A descriptor that unknown code opened: the version uses it under its real number. In a harness it may well be
 * the fuzzer's. */
static struct p3_entry *adopt(int version, int fd) {
  if (p3_in_klee() || p3_is_harness || fd < 3 || !is_open(fd) || is_known(fd))
    return NULL;
  struct p3_entry *entry = make_slot(version, fd);
  if (entry)
    *entry = (struct p3_entry){.real = fd, .cloexec = fcntl(fd, F_GETFD) & FD_CLOEXEC};
  return entry;
}

struct p3_entry *p3_fd_entry(int version, int fd) {
  struct p3_entry *entry = slot(version, fd);
  if (entry && entry->real >= 0)
    return entry;
  entry = adopt(version, fd);
  if (!entry)
    errno = EBADF;
  return entry;
}

int p3_fd_real(int version, int fd) {
  p3_turn(version);
  if (fd < 0)
    return fd;
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  if (entry->kind == P3_CAPTURE && !p3_in_klee())
    p3_captures_complete();
  return entry->real;
}

int p3_fd_source(const struct p3_entry *entry) {
  return entry->kind == P3_PLAIN ? entry->real
         : entry->kind == P3_LOG ? p3_logs[entry->stream]->real
                                 : p3_originals[entry->stream].fd;
}

int p3_fd_meta(int version, int fd) {
  p3_turn(version);
  if (fd < 0)
    return fd;
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  return p3_fd_source(entry);
}

int p3_fd_log(int version, int fd) {
  struct p3_entry *entry = slot(version, fd);
  return entry && entry->real >= 0 && entry->kind == P3_LOG ? entry->stream : -1;
}

/* The soft limit stands in the way of high numbers: it is raised for the moment, which needs no privilege
 * up to the hard limit. Descriptors stay valid when it is lowered again. */
static int duplicate_high(int real) {
  int saved = errno;
  int fd = fcntl(real, F_DUPFD_CLOEXEC, hidden_from);
  if (fd >= 0 || errno == EBADF)
    return fd;
  struct rlimit limit, raised;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    raised = limit;
    raised.rlim_cur = HIDDEN_MAX;
    if (raised.rlim_max < HIDDEN_MAX)
      raised.rlim_max = HIDDEN_MAX;
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
      fd = fcntl(real, F_DUPFD_CLOEXEC, hidden_from);
      setrlimit(RLIMIT_NOFILE, &limit);
    }
  }
  if (fd < 0)
    fd = fcntl(real, F_DUPFD_CLOEXEC, 3);
  if (fd >= 0)
    errno = saved;
  return fd;
}

static void mark_hidden(int fd, bool on) {
  if (fd < 0 || fd >= HIDDEN_MAX)
    return;
  if (on)
    hidden[fd / 8] |= 1 << fd % 8;
  else
    hidden[fd / 8] &= ~(1 << fd % 8);
}

int p3_fd_hide(int real) {
  if (real < 0 || p3_in_klee())
    return real;
  int fd = duplicate_high(real);
  if (fd < 0)
    return real;
  close(real);
  mark_hidden(fd, true);
  return fd;
}

void p3_fd_keep(int fd) {
  if (fd < 0)
    return;
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  mark_hidden(fd, true);
}

void p3_fd_discard(int fd) {
  mark_hidden(fd, false);
  close(fd);
}

static int set_cloexec(int real, bool on) { return fcntl(real, F_SETFD, on ? FD_CLOEXEC : 0); }

/* Moves `real`, which is about to become `fd` of the version, to its proper number. */
static int place(int version, int fd, int real) {
  if (p3_in_klee())
    return real;
  if (fd <= 2) {
    int parked = duplicate_high(real);
    if (parked < 0)
      return real;
    if (p3_owner == version && real != fd)
      dup2(real, fd);
    if (real != fd || p3_owner != version)
      close(real);
    return parked;
  }
  if (real == fd)
    return real;
  int flags = fcntl(real, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0;
  int moved = -1;
  if (!is_open(fd))
    moved = dup3(real, fd, flags);
  else if (real <= 2)
    moved = fcntl(real, flags ? F_DUPFD_CLOEXEC : F_DUPFD, 3);
  if (moved < 0)
    return real;
  close(real);
  return moved;
}

static int number_limit(int version) {
  struct rlimit limit;
  if (p3_in_klee() || p3_limit_get(version, RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > CHUNK * CHUNKS)
    return CHUNK * CHUNKS;
  return limit.rlim_cur;
}

/* The lowest free number. Numbers below `real`, the kernel's choice, that nobody here knows but that are
 * taken belong to unknown code of this version and would be taken if it ran alone, except in a harness. */
static int lowest_free(int version, int real, int lowest) {
  for (int fd = lowest;; fd++) {
    struct p3_entry *entry = slot(version, fd);
    if (entry && entry->real >= 0)
      continue;
    if (fd > 2 && fd < real && !p3_in_klee() && !p3_is_harness && is_open(fd) && !is_known(fd))
      continue;
    return fd;
  }
}

static int install(int version, int real, int lowest, struct p3_entry like) {
  if (real < 0)
    return -1;
  struct p3_guard guard;
  p3_lock(&guard);
  int fd = lowest_free(version, real, lowest);
  struct p3_entry *entry = fd < number_limit(version) ? make_slot(version, fd) : NULL;
  if (entry) {
    like.real = place(version, fd, real);
    change(version, fd, entry, like);
  } else {
    close(real);
  }
  p3_unlock(&guard);
  if (!entry) {
    errno = EMFILE;
    return -1;
  }
  return fd;
}

static int install_like(int version, int real, int lowest, struct p3_entry like) {
  if (real < 0)
    return -1;
  like.cloexec = !p3_in_klee() && fcntl(real, F_GETFD) & FD_CLOEXEC;
  int saved = errno;
  int fd = install(version, real, lowest, like);
  if (fd >= 0)
    errno = saved;
  return fd;
}

int p3_fd_install(int version, int real, int lowest) {
  return install_like(version, real, lowest, (struct p3_entry){.kind = P3_PLAIN});
}

int p3_fd_install_log(int version, int real, int log) {
  return install_like(version, real, 0, (struct p3_entry){.kind = P3_LOG, .stream = log});
}

void p3_fds_set(int version, int fd, struct p3_entry like) {
  struct p3_entry *entry = make_slot(version, fd);
  if (!entry)
    p3_fatal("out of memory");
  change(version, fd, entry, like);
  if (fd <= 2)
    mark_hidden(like.real, true);
}

int p3_fd_close(int version, int fd) {
  if (!p3_fd_entry(version, fd))
    return -1;
  struct p3_guard guard;
  p3_lock(&guard);
  struct p3_entry *entry = slot(version, fd);
  int real = entry->real, kind = entry->kind, stream = entry->stream;
  change(version, fd, entry, (struct p3_entry){.real = -1});
  if (fd <= 2 && !p3_in_klee()) {
    mark_hidden(real, false);
    if (p3_owner == version)
      close(fd);
  }
  p3_unlock(&guard);
  /* All captures share one there. */
  if (p3_in_klee() && kind == P3_CAPTURE)
    return 0;
  /* Outside the lock, since closing may block (a socket that lingers, a network file). */
  int result = real < 0 ? -1 : close(real);
  if (kind == P3_LOG)
    p3_log_left(version, stream);
  return result;
}

int p3_fd_dup(int version, int fd, int lowest, bool cloexec) {
  struct p3_entry *from = p3_fd_entry(version, fd);
  if (!from)
    return -1;
  if (lowest < 0 || lowest >= number_limit(version)) {
    errno = EINVAL;
    return -1;
  }
  struct p3_entry like = *from;
  like.cloexec = cloexec;
  int real = p3_in_klee() ? dup(like.real)
                          : fcntl(like.real, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD, lowest > 3 ? lowest : 3);
  return install(version, real, lowest, like);
}

static int dup2_locked(int version, int from, int to, bool cloexec) {
  struct p3_entry *source = slot(version, from);
  struct p3_entry *target = make_slot(version, to);
  if (!source || source->real < 0 || !target || to >= number_limit(version)) {
    errno = EBADF;
    return -1;
  }
  struct p3_entry like = *source;
  like.cloexec = cloexec;
  int flags = cloexec ? O_CLOEXEC : 0;
  if (p3_in_klee()) {
    if (target->real >= 0 && target->kind != P3_CAPTURE)
      close(target->real);
    like.real = dup(source->real);
  } else if (to <= 2) {
    /* In place, so that a FILE that has the real number keeps it. */
    like.real =
        target->real >= 0 ? dup3(source->real, target->real, O_CLOEXEC) : duplicate_high(source->real);
    if (like.real >= 0) {
      mark_hidden(like.real, true);
      if (p3_owner == version)
        dup3(like.real, to, flags);
    }
  } else if (target->real >= 0 || adopt(version, to)) {
    like.real = dup3(source->real, target->real, flags);
  } else if (!is_open(to)) {
    like.real = dup3(source->real, to, flags);
  } else {
    like.real = fcntl(source->real, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD, 3);
  }
  if (like.real < 0)
    return -1;
  change(version, to, target, like);
  return to;
}

int p3_fd_dup2(int version, int from, int to, bool cloexec) {
  if (!p3_fd_entry(version, from))
    return -1;
  if (from == to)
    return to;
  struct p3_guard guard;
  p3_lock(&guard);
  int before = p3_fd_log(version, to);
  int fd = dup2_locked(version, from, to, cloexec);
  int error = errno;
  p3_unlock(&guard);
  if (before >= 0)
    p3_log_left(version, before);
  errno = error;
  return fd;
}

int p3_fd_get_cloexec(int version, int fd) {
  struct p3_entry *entry = p3_fd_entry(version, fd);
  return entry ? entry->cloexec : -1;
}

int p3_fd_set_cloexec(int version, int fd, bool on) {
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry)
    return -1;
  entry->cloexec = on;
  if (p3_in_klee())
    return 0;
  if (fd > 2)
    return set_cloexec(entry->real, on);
  return p3_owner == version ? set_cloexec(fd, on) : 0;
}

void p3_fd_moved(int version, int fd, int real) {
  struct p3_guard guard;
  p3_lock(&guard);
  struct p3_entry *entry = slot(version, fd);
  int before = p3_fd_log(version, fd);
  if (entry && fd <= 2) {
    mark_hidden(entry->real, false);
    mark_hidden(real, true);
    if (p3_owner == version && real < 0)
      close(fd);
    else if (p3_owner == version)
      dup2(real, fd);
  }
  if (entry)
    change(version, fd, entry,
           (struct p3_entry){.real = real, .cloexec = real >= 0 && fcntl(real, F_GETFD) & FD_CLOEXEC});
  p3_unlock(&guard);
  if (before >= 0)
    p3_log_left(version, before);
}

void p3_fd_close_range(int version, unsigned first, unsigned last) {
  for (unsigned c = first / CHUNK; c < (unsigned)chunk_counts[version] && c <= last / CHUNK; c++)
    for (unsigned k = 0; tables[version][c] && k < CHUNK; k++) {
      unsigned fd = c * CHUNK + k;
      if (fd >= first && fd <= last && tables[version][c][k].real >= 0)
        p3_fd_close(version, fd);
    }
}

int p3_fd_next(int version, int fd) {
  for (; fd >= 0 && fd < CHUNK * CHUNKS; fd++) {
    struct p3_entry *chunk = tables[version][fd / CHUNK];
    if (!chunk)
      fd |= CHUNK - 1;
    else if (chunk[fd % CHUNK].real >= 0)
      return fd;
  }
  return -1;
}

void p3_fds_close_all(int version) { p3_fd_close_range(version, 0, UINT_MAX); }

void p3_fd_arrange(int version) {
  /* The others' first: their numbers may be wanted below. */
  for (int i = 0; i < p3_count; i++)
    for (int c = 0; i != version && c < CHUNKS; c++)
      for (int k = 0; tables[i][c] && k < CHUNK; k++)
        if (tables[i][c][k].real >= 0)
          set_cloexec(tables[i][c][k].real, true);
  for (int fd = 0; fd <= 2; fd++) {
    struct p3_entry *entry = slot(version, fd);
    if (!entry || entry->real < 0)
      close(fd);
    else
      dup3(entry->real, fd, entry->cloexec ? O_CLOEXEC : 0);
  }
  /* Out of each other's way, then down to the proper numbers. */
  for (int pass = 0; pass < 2; pass++)
    for (int c = 0; c < CHUNKS; c++)
      for (int k = 0; tables[version][c] && k < CHUNK; k++) {
        int fd = c * CHUNK + k;
        struct p3_entry *entry = &tables[version][c][k];
        if (fd <= 2 || entry->real < 0 || entry->real == fd)
          continue;
        if (pass == 0) {
          int high = duplicate_high(entry->real);
          if (high < 0)
            continue;
          close(entry->real);
          entry->real = high;
        } else if (!entry->cloexec) {
          dup2(entry->real, fd);
        }
      }
}

void p3_fds_mirror(int version) {
  for (int fd = 0; fd <= 2; fd++) {
    struct p3_entry *entry = slot(version, fd);
    if (entry && entry->real >= 0)
      dup3(entry->real, fd, entry->cloexec ? O_CLOEXEC : 0);
    else
      close(fd);
  }
}

void p3_fds_restore(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (p3_originals[fd].fd >= 0)
      dup2(p3_originals[fd].fd, fd);
    else
      close(fd);
  p3_owner = P3_NOBODY;
}

/* A second open file description of what `real` stands for, at the same offset. */
static int reopen(int real, const struct stat *stat) {
  char path[P3_FD_PATH];
  snprintf(path, sizeof path, "/proc/self/fd/%d", real);
  int flags = fcntl(real, F_GETFL);
  off_t at = lseek(real, 0, SEEK_CUR);
  int fd = S_ISREG(stat->st_mode) || S_ISBLK(stat->st_mode)
               ? open(path, (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC)
               : -1;
  if (fd >= 0 && at >= 0)
    lseek(fd, at, SEEK_SET);
  return fd >= 0 ? fd : fcntl(real, F_DUPFD_CLOEXEC, 3);
}

/* Descriptors above 2 that the product was started with. The first version has them as they are, the others
 * have their own offsets in files. */
static void inherit(int real) {
  struct stat stat;
  if (fstat(real, &stat) != 0)
    return;
  bool cloexec = fcntl(real, F_GETFD) & FD_CLOEXEC;
  int first = p3_config.show > 0 ? p3_config.show : 0;
  p3_rerun_inherited(real);
  for (int i = 0; i < p3_count; i++) {
    int mine = i == first ? real : p3_fd_hide(reopen(real, &stat));
    if (mine >= 0)
      p3_fds_set(i, real, (struct p3_entry){.real = mine, .cloexec = cloexec});
  }
}

static void inherit_all(void) {
  int found[HIDDEN_MAX], count = 0;
  DIR *directory = opendir("/proc/self/fd");
  if (!directory)
    return;
  for (struct dirent *entry; count < HIDDEN_MAX && (entry = readdir(directory));) {
    int fd = atoi(entry->d_name);
    if (fd > 2 && fd != dirfd(directory) && !(fd < HIDDEN_MAX && IS_HIDDEN(fd)))
      found[count++] = fd;
  }
  closedir(directory);
  for (int i = 0; i < count; i++)
    inherit(found[i]);
}

static void look_at_original(int fd, int real) {
  struct p3_original *original = &p3_originals[fd];
  original->fd = -1;
  if (p3_in_klee()) {
    if (fcntl(real, F_GETFL) >= 0)
      original->fd = real;
    return;
  }
  if (fstat(real, &original->stat) != 0)
    return;
  original->fd = duplicate_high(real);
  if (original->fd < 0)
    p3_fatal("cannot duplicate descriptor %d: %s", real, strerror(errno));
  mark_hidden(original->fd, true);
  original->flags = fcntl(real, F_GETFL);
  original->tty = isatty(real);
  if (S_ISREG(original->stat.st_mode))
    original->start = original->flags & O_APPEND ? original->stat.st_size : lseek(real, 0, SEEK_CUR);
}

/* Originals, captures (two descriptors and the version's own for two streams), relays, directories, and logs: of
 * standard input and of a few FIFOs. */
int p3_fds_own(void) { return 32 + p3_count * 16; }

void p3_fds_begin(void) { hidden_from = HIDDEN_MAX - p3_fds_own(); }

void p3_fds_use(const int streams[3]) {
  for (int fd = 0; fd <= 2; fd++)
    look_at_original(fd, streams[fd]);
}

void p3_fds_init(void) {
  p3_fds_begin();
  p3_fds_use((const int[]){0, 1, 2});
  if (!p3_in_klee())
    inherit_all();
}
