/* Waiting for descriptors: poll, select, epoll.
 *
 * A standard input of which another version has already read more is ready at once, whatever the real one
 * says. */
#include "p3v_streams.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

void SHIM(__chk_fail)(void);

int SHIM(ppoll)(struct pollfd *polled, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
  struct pollfd few[64], *real = count <= 64 ? few : malloc(count * sizeof *real);
  if (!real) {
    errno = ENOMEM;
    return -1;
  }
  static const struct timespec now;
  bool ready = false;
  for (nfds_t i = 0; i < count; i++) {
    real[i] = polled[i];
    if (polled[i].fd < 0)
      continue;
    int meta = META(polled[i].fd);
    /* Something that is never open, so that the answer is POLLNVAL. */
    real[i].fd = meta < 0 ? 0x7fffffff : meta;
    ready |= polled[i].events & POLLIN && p3_fd_pending(p3v_index, polled[i].fd) != 0;
  }
  int result = ppoll(real, count, ready ? &now : timeout, mask);
  int error = errno;
  for (nfds_t i = 0; result >= 0 && i < count; i++) {
    polled[i].revents = polled[i].fd < 0 ? 0 : real[i].revents;
    if (polled[i].fd >= 0 && polled[i].events & POLLIN && p3_fd_pending(p3v_index, polled[i].fd) != 0) {
      result += !polled[i].revents;
      polled[i].revents |= polled[i].events & (POLLIN | POLLRDNORM);
    }
  }
  if (real != few)
    free(real);
  errno = error;
  return result;
}

int SHIM(poll)(struct pollfd *polled, nfds_t count, int timeout) {
  struct timespec time = {timeout / 1000, timeout % 1000 * 1000000L};
  return SHIM(ppoll)(polled, count, timeout < 0 ? NULL : &time, NULL);
}

ALSO(int, __poll, (struct pollfd * polled, nfds_t count, int timeout), poll, polled, count, timeout)

int SHIM(__poll_chk)(struct pollfd *polled, nfds_t count, int timeout, size_t room) {
  if (room / sizeof *polled < count)
    SHIM(__chk_fail)();
  return SHIM(poll)(polled, count, timeout);
}

int SHIM(__ppoll_chk)(struct pollfd *polled, nfds_t count, const struct timespec *timeout,
                      const sigset_t *mask, size_t room) {
  if (room / sizeof *polled < count)
    SHIM(__chk_fail)();
  return SHIM(ppoll)(polled, count, timeout, mask);
}

/* The real descriptors of a set; false: one is not open. */
static bool translate(int count, const fd_set *virtual, fd_set *real, int *highest) {
  FD_ZERO(real);
  for (int fd = 0; virtual && fd < count && fd < FD_SETSIZE; fd++) {
    if (!FD_ISSET(fd, virtual))
      continue;
    int meta = META(fd);
    if (meta < 0 || meta >= FD_SETSIZE)
      return false;
    FD_SET(meta, real);
    if (meta > *highest)
      *highest = meta;
  }
  return true;
}

/* Keeps in `virtual` those that are in `real`, or that have logged input if `input`; counts them. */
static int translate_back(int count, fd_set *virtual, const fd_set *real, bool input) {
  int kept = 0;
  for (int fd = 0; virtual && fd < count && fd < FD_SETSIZE; fd++) {
    if (!FD_ISSET(fd, virtual))
      continue;
    if (FD_ISSET(META(fd), real) || (input && p3_fd_pending(p3v_index, fd) != 0))
      kept++;
    else
      FD_CLR(fd, virtual);
  }
  return kept;
}

static bool any_pending(int count, const fd_set *input) {
  for (int fd = 0; input && fd < count && fd < FD_SETSIZE; fd++)
    if (FD_ISSET(fd, input) && p3_fd_pending(p3v_index, fd) != 0)
      return true;
  return false;
}

int SHIM(pselect)(int count, fd_set *input, fd_set *output, fd_set *urgent, const struct timespec *timeout,
                  const sigset_t *mask) {
  fd_set real[3];
  int highest = -1;
  if (count < 0) {
    errno = EINVAL;
    return -1;
  }
  if (!translate(count, input, &real[0], &highest) || !translate(count, output, &real[1], &highest) ||
      !translate(count, urgent, &real[2], &highest)) {
    errno = EBADF;
    return -1;
  }
  static const struct timespec now;
  int result =
      pselect(highest + 1, &real[0], &real[1], &real[2], any_pending(count, input) ? &now : timeout, mask);
  if (result < 0)
    return result;
  return translate_back(count, input, &real[0], true) + translate_back(count, output, &real[1], false) +
         translate_back(count, urgent, &real[2], false);
}

/* Linux leaves the remaining time in *timeout, so this is not pselect with another type. */
int SHIM(select)(int count, fd_set *input, fd_set *output, fd_set *urgent, struct timeval *timeout) {
  fd_set real[3];
  int highest = -1;
  if (count < 0) {
    errno = EINVAL;
    return -1;
  }
  if (!translate(count, input, &real[0], &highest) || !translate(count, output, &real[1], &highest) ||
      !translate(count, urgent, &real[2], &highest)) {
    errno = EBADF;
    return -1;
  }
  struct timeval now = {0, 0};
  int result = select(highest + 1, &real[0], &real[1], &real[2], any_pending(count, input) ? &now : timeout);
  if (result < 0)
    return result;
  return translate_back(count, input, &real[0], true) + translate_back(count, output, &real[1], false) +
         translate_back(count, urgent, &real[2], false);
}

PASS(int, epoll_ctl, (int epoll, int operation, int fd, struct epoll_event *event), REAL(epoll), operation,
     META(fd), event)
PASS(int, epoll_wait, (int epoll, struct epoll_event *events, int count, int timeout), REAL(epoll), events,
     count, timeout)
PASS(int, epoll_pwait, (int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *mask),
     REAL(epoll), events, count, timeout, mask)
PASS(int, epoll_pwait2,
     (int epoll, struct epoll_event *events, int count, const struct timespec *timeout, const sigset_t *mask),
     REAL(epoll), events, count, timeout, mask)
