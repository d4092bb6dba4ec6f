/* Functions that make descriptors of other things than files: each gets its virtual number. */
#include "p3v_streams.h"
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* `type NAME parameters`: calls libc's NAME and gives its result a virtual number. */
#define MAKES(name, parameters, ...)                                                                         \
  int SHIM(name) parameters { return NEW(name(__VA_ARGS__)); }

/* Both or none. */
static int install_pair(int fds[2], int result) {
  if (result != 0)
    return result;
  int first = NEW(fds[0]);
  if (first < 0) {
    close(fds[1]);
    return -1;
  }
  int second = NEW(fds[1]);
  if (second < 0) {
    p3_fd_close(p3v_index, first);
    errno = EMFILE;
    return -1;
  }
  fds[0] = first;
  fds[1] = second;
  return 0;
}

int SHIM(pipe)(int fds[2]) {
  int real[2];
  int result = install_pair(real, pipe(real));
  if (result == 0) {
    fds[0] = real[0];
    fds[1] = real[1];
  }
  return result;
}

int SHIM(pipe2)(int fds[2], int flags) {
  int real[2];
  int result = install_pair(real, pipe2(real, flags));
  if (result == 0) {
    fds[0] = real[0];
    fds[1] = real[1];
  }
  return result;
}

int SHIM(socketpair)(int domain, int type, int protocol, int fds[2]) {
  int real[2];
  int result = install_pair(real, socketpair(domain, type, protocol, real));
  if (result == 0) {
    fds[0] = real[0];
    fds[1] = real[1];
  }
  return result;
}

int SHIM(openpty)(int *leader, int *follower, char *name, const struct termios *terminal,
                  const struct winsize *size) {
  int real[2];
  int result = install_pair(real, openpty(&real[0], &real[1], name, terminal, size));
  if (result == 0) {
    *leader = real[0];
    *follower = real[1];
  }
  return result;
}

MAKES(socket, (int domain, int type, int protocol), domain, type, protocol)
MAKES(accept, (int fd, struct sockaddr *address, socklen_t *size), META(fd), address, size)
MAKES(accept4, (int fd, struct sockaddr *address, socklen_t *size, int flags), META(fd), address, size, flags)
MAKES(epoll_create, (int size), size)
MAKES(epoll_create1, (int flags), flags)
MAKES(eventfd, (unsigned count, int flags), count, flags)
MAKES(timerfd_create, (clockid_t clock, int flags), clock, flags)
MAKES(inotify_init, (void))
MAKES(inotify_init1, (int flags), flags)
MAKES(fanotify_init, (unsigned flags, unsigned event_flags), flags, event_flags)
MAKES(memfd_create, (const char *name, unsigned flags), name, flags)
MAKES(posix_openpt, (int flags), flags)
MAKES(getpt, (void))
MAKES(shm_open, (const char *name, int flags, mode_t mode), name, flags, mode)
MAKES(mkstemp, (char *template), template)
MAKES(mkstemp64, (char *template), template)
MAKES(mkostemp, (char *template, int flags), template, flags)
MAKES(mkostemp64, (char *template, int flags), template, flags)
MAKES(mkstemps, (char *template, int suffix), template, suffix)
MAKES(mkstemps64, (char *template, int suffix), template, suffix)
MAKES(mkostemps, (char *template, int suffix, int flags), template, suffix, flags)
MAKES(mkostemps64, (char *template, int suffix, int flags), template, suffix, flags)

/* An existing descriptor is given a new mask and returned. */
int SHIM(signalfd)(int fd, const sigset_t *mask, int flags) {
  if (fd < 0)
    return NEW(signalfd(fd, mask, flags));
  return signalfd(REAL(fd), mask, flags) < 0 ? -1 : fd;
}

PASS(int, eventfd_read, (int fd, eventfd_t *value), REAL(fd), value)
PASS(int, eventfd_write, (int fd, eventfd_t value), REAL(fd), value)
PASS(int, timerfd_settime, (int fd, int flags, const struct itimerspec *new, struct itimerspec *old),
     REAL(fd), flags, new, old)
PASS(int, timerfd_gettime, (int fd, struct itimerspec *value), REAL(fd), value)
PASS(int, inotify_add_watch, (int fd, const char *path, uint32_t mask), REAL(fd), path, mask)
PASS(int, inotify_rm_watch, (int fd, int watch), REAL(fd), watch)
PASS(int, fanotify_mark, (int fd, unsigned flags, uint64_t mask, int directory, const char *path), REAL(fd),
     flags, mask, REAL(directory), path)
