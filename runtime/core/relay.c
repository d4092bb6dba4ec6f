/* The standard output and error of other programs that a version starts, where the real stream is a pipe or a
 * socket.
 *
 * The capture is a file: a program that had it as its standard output could write without end, however slow
 * the reader is, and would not learn that there is none any more. So it gets a pipe, and a process of its
 * own, the relay, passes on what comes out of that as if the version itself had written it. The pipe fills
 * while the reader is slow, and breaks when he is gone.
 *
 * What is still on its way must be out before the version writes itself: p3_relay_settle. */
#include "process.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* How far the relay of a stream has come; shared by all processes. */
struct progress {
  _Atomic bool busy;          /* it has read bytes that are not written yet */
  _Atomic unsigned long done; /* bytes that it has written */
};
static struct progress (*progress)[3];

#define CHUNK (1 << 16)

/* The writing ends, hidden; 0: there is no relay. */
static _Atomic int pipes[P3_MAX_VERSIONS][3];

static bool is_needed(int stream) {
  const struct p3_original *original = &p3_originals[stream];
  return original->fd >= 0 && (S_ISFIFO(original->stat.st_mode) || S_ISSOCK(original->stat.st_mode));
}

/* ---- the relay ---- */

static void close_all_but(int version, const int ends[3]) {
  long limit = sysconf(_SC_OPEN_MAX);
  for (int fd = 0; fd < limit && fd < 65536; fd++) {
    bool kept = false;
    for (int stream = 1; stream <= 2; stream++) {
      struct p3_capture *capture = &p3_captures[version][stream];
      kept |=
          fd == ends[stream] || fd == p3_originals[stream].fd || fd == capture->write || fd == capture->read;
    }
    if (!kept)
      close(fd);
  }
}

/* False: it cannot be written any more. */
static bool put(int version, int stream, char *bytes, size_t size) {
  struct p3_entry entry = {.kind = P3_CAPTURE, .stream = (unsigned char)stream};
  while (size) {
    struct iovec part = {bytes, size};
    ssize_t done = p3_capture_writev(version, &entry, &part, 1, true);
    if (done < 0 && errno == EAGAIN) {
      struct pollfd wait = {.fd = p3_originals[stream].fd, .events = POLLOUT};
      poll(&wait, 1, -1);
    } else if (done < 0 && errno != EINTR) {
      return false;
    }
    if (done > 0) {
      bytes += done;
      size -= (size_t)done;
    }
  }
  return true;
}

/* False: there is nothing more to come, or nobody who reads it. */
static bool pass_on(int version, int stream, int end) {
  static char bytes[CHUNK];
  struct progress *mine = &progress[version][stream];
  mine->busy = true;
  ssize_t got = read(end, bytes, sizeof bytes);
  bool more = got > 0 ? put(version, stream, bytes, (size_t)got) : got < 0 && errno == EINTR;
  mine->done += got > 0 ? (unsigned long)got : 0;
  mine->busy = false;
  return more;
}

/* Whether the program may learn that the reader is gone: a version that is not shown only when it has written
 * what the reader got, since the reader may be gone before it begins. */
static bool is_as_far_as_reader(int version, int stream) {
  return p3_is_shown(version) || p3_config.show == P3_NOBODY ||
         p3_capture_length(version, stream) >= p3_shared->shown[stream] - p3_captures[version][stream].base;
}

static void relay(int version, const int ends[3]) {
  /* The pipes, and the real streams, of which only errors are of interest. */
  struct pollfd all[4] = {{.fd = ends[1], .events = POLLIN}, {.fd = ends[2], .events = POLLIN}};
  while (all[0].fd >= 0 || all[1].fd >= 0) {
    int patience = -1;
    for (int i = 0; i < 2; i++) {
      bool far = is_as_far_as_reader(version, i + 1);
      all[2 + i].fd = all[i].fd >= 0 && far ? p3_originals[i + 1].fd : -1;
      if (all[i].fd >= 0 && !far)
        patience = 100;
    }
    if (poll(all, 4, patience) < 0)
      continue;
    for (int i = 0; i < 2; i++) {
      bool more = all[i].revents ? pass_on(version, i + 1, all[i].fd) : !all[2 + i].revents;
      if (all[i].fd >= 0 && !more) {
        close(all[i].fd);
        all[i].fd = -1;
      }
    }
  }
}

/* False: there is no process for it. */
static bool start(int version, const int ends[3]) {
  int forked = p3_fork_apart();
  if (forked != 0)
    return forked > 0;
  p3_states[version].doomed = 0;
  p3_forked(version);
  close_all_but(version, ends);
  relay(version, ends);
  _exit(0);
}

/* ---- in the product and its children ---- */

static bool map_progress(void) {
  if (progress)
    return true;
  void *map = mmap(NULL, P3_MAX_VERSIONS * sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED)
    return false;
  progress = map;
  return true;
}

/* Other threads look at `pipes`: they are there when all else is. */
static void start_if_needed(int version) {
  int ends[3] = {-1, -1, -1}, writing[3] = {0};
  bool any = false;
  for (int stream = 1; stream <= 2; stream++) {
    int both[2];
    if (pipes[version][stream] || !is_needed(stream) || pipe2(both, O_CLOEXEC) != 0)
      continue;
    ends[stream] = p3_fd_hide(both[0]);
    writing[stream] = p3_fd_hide(both[1]);
    any = true;
  }
  bool started = any && map_progress() && start(version, ends);
  for (int stream = 1; stream <= 2; stream++) {
    if (ends[stream] < 0)
      continue;
    close(ends[stream]);
    if (started)
      pipes[version][stream] = writing[stream];
    else
      close(writing[stream]);
  }
}

void p3_relay_start(int version) {
  static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_mutex_lock(&starting);
  start_if_needed(version);
  pthread_mutex_unlock(&starting);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Standard output and error are the same file or pipe (2>&1). */
static bool are_one(void) {
  const struct p3_original *out = &p3_originals[1], *err = &p3_originals[2];
  return out->fd >= 0 && err->fd >= 0 && out->stat.st_dev == err->stat.st_dev &&
         out->stat.st_ino == err->stat.st_ino;
}

void p3_relay_attach(int version) {
  for (int stream = 1; stream <= 2; stream++) {
    int real = pipes[version][stream], end = -1;
    /* The order of what a program writes to both is kept by one way for both. It counts as standard output
     * then. */
    if (stream == 2 && are_one() && !p3_is_full_device(&p3_originals[2].stat))
      real = pipes[version][1] ? pipes[version][1] : p3_captures[version][1].write;
    for (int fd = 0; real && fd < 256; fd++) {
      if (!p3_fd_is_captured(version, fd) || p3_fd_entry(version, fd)->stream != stream)
        continue;
      if (end < 0)
        end = p3_fd_install(version, fcntl(real, F_DUPFD_CLOEXEC, 3), 0);
      if (end >= 0)
        p3_fd_dup2(version, end, fd, p3_fd_get_cloexec(version, fd));
    }
    if (end >= 0)
      p3_fd_close(version, end);
  }
}

/* Without a reader the pipe is broken and nothing is on its way. */
static bool is_broken(int version, int stream) {
  struct pollfd poll_it = {.fd = pipes[version][stream], .events = POLLOUT};
  return poll(&poll_it, 1, 0) == 1 && poll_it.revents & POLLERR;
}

static unsigned long waiting_bytes(int version, int stream) {
  int count = 0;
  return ioctl(pipes[version][stream], FIONREAD, &count) == 0 && count > 0 ? (unsigned long)count : 0;
}

/* Programs may go on writing meanwhile: only what they have written up to now counts. That is at most what is
 * in the pipe and a chunk that the relay has taken out of it before. */
static void settle(int version, int stream) {
  const struct progress *relay = &progress[version][stream];
  unsigned long before = relay->done, most = waiting_bytes(version, stream) + CHUNK;
  for (int tries = 0; tries < 5000; tries++) {
    /* In this order: what left the pipe is being passed on from before it left. */
    bool empty = waiting_bytes(version, stream) == 0;
    if ((empty && !relay->busy) || relay->done - before >= most || is_broken(version, stream))
      return;
    nanosleep(&(struct timespec){0, 200000}, NULL);
  }
}

void p3_relay_settle(int version) {
  for (int stream = 1; stream <= 2; stream++)
    if (pipes[version][stream])
      settle(version, stream);
}

bool p3_relay_has(int version, const struct stat *stat_of) {
  struct stat pipe;
  for (int stream = 1; stream <= 2; stream++)
    if (pipes[version][stream] && fstat(pipes[version][stream], &pipe) == 0 &&
        pipe.st_ino == stat_of->st_ino && pipe.st_dev == stat_of->st_dev)
      return true;
  return false;
}
