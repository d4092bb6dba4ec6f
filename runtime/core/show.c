/* Showing a version's output on the product's own stdout and stderr.
 *
 * What the version itself writes is shown by capture.c as it is written. Here is the rest: what children,
 * libc's own messages and libraries wrote into the captures through real descriptors. */
#include "core.h"
#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

bool p3_is_shown(int version) { return version == p3_config.show; }

/* Returns 0 or an errno. */
static int copy_on(int fd, const char *bytes, size_t size) {
  while (size) {
    ssize_t done = write(fd, bytes, size);
    if (done < 0 && errno == EAGAIN) {
      struct pollfd wait = {.fd = fd, .events = POLLOUT};
      poll(&wait, 1, -1);
    } else if (done < 0 && errno != EINTR) {
      return errno;
    }
    if (done > 0) {
      bytes += done;
      size -= done;
    }
  }
  return 0;
}

int p3_show_rest(int version, int stream) {
  static char buffer[1 << 16] P3_KEPT;
  struct p3_capture *capture = &p3_captures[version][stream];
  off_t *shown = &p3_shared->shown[stream];
  struct stat stat;
  if (p3_follow_is_on(stream)) /* nobody else wrote */
    return 0;
  if (p3_originals[stream].fd < 0 || fstat(capture->read, &stat) != 0 || stat.st_size <= *shown)
    return 0;
  if (*shown < p3_shared->there[stream])
    *shown = stat.st_size < p3_shared->there[stream] ? stat.st_size : p3_shared->there[stream];
  if (stat.st_size <= *shown)
    return 0;
  if (p3_shared->error[stream])
    return p3_shared->error[stream];
  int error = 0;
  ssize_t size;
  while (!error && (size = pread(capture->read, buffer, sizeof buffer, *shown)) > 0) {
    error = copy_on(p3_originals[stream].fd, buffer, size);
    *shown += size;
  }
  if (error) {
    p3_shared->limit[stream] = *shown;
    p3_shared->error[stream] = error;
  }
  return error;
}

static bool is_behind(int version, int stream) {
  struct stat stat;
  return !p3_follow_is_on(stream) && p3_originals[stream].fd >= 0 && fstat(p3_captures[version][stream].read, &stat) == 0 &&
         stat.st_size > p3_shared->shown[stream];
}

int p3_show(int version) {
  if (p3_in_klee() || !p3_is_shown(version))
    return 0;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  for (int stream = 1; stream <= 2; stream++) {
    if (!is_behind(version, stream))
      continue;
    bool first = p3_capture_lock(version, stream);
    int failed = first ? p3_show_rest(version, stream) : 0;
    p3_capture_unlock(version, stream, first);
    if (failed)
      error = failed;
  }
  if (error == EPIPE) {
    /* It was not the version that wrote: it gets no SIGPIPE. */
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigtimedwait(&pipe, NULL, &(struct timespec){0, 0});
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}
