/* Standard output that is not in a file.
 *
 * While nothing but the versions' own calls writes to the captures of standard output, the runtime knows where each
 * of them ends. What the first version wrote last is kept in memory and goes into its file in large pieces. A
 * version whose output is the same so far follows the first one: what it writes is compared and kept nowhere.
 *
 * p3_captures_complete ends that for good, before a descriptor of a capture gets into other hands (a fork, code
 * that the runtime does not know) and before a capture is changed otherwise than at its end. Standard error is
 * always in files: libc itself writes there. */
#include "core.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TAIL (1 << 18)
#define PIECE (1 << 16)

static bool is_on;

/* The first version's output from `tail_start` on; the first `tail_saved` bytes of it are in the file, too. */
static char *tail;
static off_t tail_start;
static size_t tail_size, tail_saved;

/* A piece of that file. */
static char *view;
static off_t view_start;
static size_t view_size;

/* A file in memory, and that memory: the kernel copies there what may not be readable. */
static int scratch_file = -1;
static char *scratch;

static char *map(size_t size, int flags, int fd) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void p3_follow_init(void) {
  /* There captures are files in memory; and where files may not get long, each version learns that by its own. */
  if (p3_is_harness || p3_file_limit() != UINT64_MAX)
    return;
  tail = map(TAIL, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  view = map(PIECE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (!tail || !view || p3_originals[1].fd < 0)
    return;
  is_on = true;
  tail_start = p3_captures[0][1].base;
  for (int i = 0; i < p3_count; i++) {
    p3_captures[i][1].at = p3_captures[i][1].base;
    p3_captures[i][1].follows = i > 0;
  }
}

bool p3_follow_is_on(int stream) { return is_on && stream == 1; }

/* Once a write has been cut short there, another one would end the version, which has not asked for it. */
static bool is_full(int fd) {
  uint64_t limit = p3_file_limit();
  return limit != UINT64_MAX && lseek(fd, 0, SEEK_CUR) >= (off_t)limit;
}

/* All of it, or less: what the kernel could read of it, what the version's limit on files allows; -1: nothing. */
ssize_t p3_file_write(int fd, const char *bytes, size_t size) {
  size_t total = 0;
  while (total < size) {
    ssize_t done = write(fd, bytes + total, size - total);
    if (done < 0 && (errno == EFAULT || errno == EFBIG))
      return total ? (ssize_t)total : -1;
    if (done < 0 && errno != EINTR)
      p3_fatal("cannot keep the output: %s", strerror(errno));
    if (done > 0)
      total += done;
    if (done > 0 && total < size && is_full(fd))
      break;
  }
  return total;
}

static void save_tail(void) {
  if (tail_saved < tail_size)
    p3_file_write(p3_captures[0][1].write, tail + tail_saved, tail_size - tail_saved);
  tail_saved = tail_size;
}

static ssize_t remember(const char *bytes, size_t size, bool readable) {
  if (tail_size + size > TAIL || !readable) {
    save_tail();
    tail_start += tail_size;
    tail_size = tail_saved = 0;
  }
  if (size > TAIL || !readable) {
    ssize_t done = p3_file_write(p3_captures[0][1].write, bytes, size);
    tail_start += done > 0 ? done : 0;
    return done;
  }
  memcpy(tail + tail_size, bytes, size);
  tail_size += size;
  return size;
}

/* What of the first version's file is in `view` at `at`, read if need be; the number of bytes. */
static size_t look(off_t at, const char **bytes) {
  if (at < view_start || at >= view_start + (off_t)view_size) {
    ssize_t got;
    while ((got = pread(p3_captures[0][1].read, view, PIECE, at)) < 0 && errno == EINTR)
      ;
    view_start = at;
    view_size = got > 0 ? got : 0;
  }
  *bytes = view + (at - view_start);
  return view_start + view_size - at;
}

/* Whether the first version wrote the same there. */
static bool is_same(off_t at, const char *bytes, size_t size) {
  if (at + (off_t)size > p3_captures[0][1].at)
    return false;
  while (size) {
    const char *first = tail + (at - tail_start);
    size_t there = at >= tail_start ? size : look(at, &first);
    if (there > size)
      there = size;
    if (!there || memcmp(first, bytes, there) != 0)
      return false;
    at += there;
    bytes += there;
    size -= there;
  }
  return true;
}

/* What the version wrote like the first one, into its own file. */
static void stop_following(struct p3_capture *capture) {
  save_tail();
  for (off_t at = capture->base; at < capture->at;) {
    const char *bytes;
    size_t size = look(at, &bytes);
    if (!size)
      p3_fatal("cannot read the output that was kept");
    if ((off_t)size > capture->at - at)
      size = capture->at - at;
    p3_file_write(capture->write, bytes, size);
    at += size;
  }
  capture->follows = false;
}

static bool has_scratch(void) {
  if (scratch || scratch_file >= 0)
    return scratch;
  int fd = memfd_create("p3", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, PIECE) != 0 || !(scratch = map(PIECE, MAP_SHARED, fd)))
    return false;
  scratch_file = p3_fd_hide(fd);
  return true;
}

static ssize_t keep_some(int version, const char *bytes, size_t size, bool readable) {
  struct p3_capture *capture = &p3_captures[version][1];
  if (version == 0)
    return remember(bytes, size, readable);
  if (capture->follows && !readable && has_scratch()) {
    ssize_t got = pwrite(scratch_file, bytes, size < PIECE ? size : PIECE, 0);
    if (got < 0)
      return got;
    if (is_same(capture->at, scratch, got))
      return got;
  } else if (capture->follows && readable && is_same(capture->at, bytes, size)) {
    return size;
  }
  if (capture->follows)
    stop_following(capture);
  return p3_file_write(capture->write, bytes, size);
}

ssize_t p3_follow_keep(int version, const char *bytes, size_t size, bool readable) {
  size_t total = 0;
  while (total < size) {
    ssize_t done = keep_some(version, bytes + total, size - total, readable);
    if (done < 0)
      return total ? (ssize_t)total : done;
    p3_captures[version][1].at += done;
    total += done;
  }
  return total;
}

int p3_follow_source(int version, off_t end) {
  const struct p3_capture *capture = &p3_captures[version][1];
  if (version > 0 && !capture->follows)
    return capture->read;
  if (tail_start + (off_t)tail_saved < end)
    save_tail();
  return p3_captures[0][1].read;
}

void p3_captures_complete(void) {
  if (!is_on)
    return;
  int error = errno;
  p3_inside++;
  bool first = p3_capture_lock(0, 1);
  for (int i = 1; is_on && i < p3_count; i++)
    if (p3_captures[i][1].follows)
      stop_following(&p3_captures[i][1]);
  save_tail();
  is_on = false;
  p3_capture_unlock(0, 1, first);
  p3_inside--;
  errno = error;
}
