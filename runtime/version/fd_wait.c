/* Waiting for descriptors: poll, select, epoll.
 *
 * A logged input of which another version has already read more is ready at once, whatever the real one
 * says. */
#include "p3_process.h"
#include "p3v_streams.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
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
    off_t pending = p3_fd_pending(p3v_index, polled[i].fd);
    ready |= pending == P3_HUNG_UP || (polled[i].events & POLLIN && pending != 0);
  }
  struct p3_waiting waiting;
  p3_wait_begin(&waiting, p3v_index, ready ? &now : timeout, mask);
  int result;
  do
    result = ppoll(real, count, waiting.timeout, waiting.mask);
  while (p3_wait_again(&waiting, result < 0));
  int error = errno;
  for (nfds_t i = 0; result >= 0 && i < count; i++) {
    polled[i].revents = polled[i].fd < 0 ? 0 : real[i].revents;
    off_t pending = polled[i].fd < 0 ? 0 : p3_fd_pending(p3v_index, polled[i].fd);
    if (pending != P3_HUNG_UP && !(polled[i].events & POLLIN && pending != 0))
      continue;
    result += !polled[i].revents;
    if (pending == P3_HUNG_UP) /* whoever writes now has come later */
      polled[i].revents = (polled[i].revents & ~(POLLIN | POLLRDNORM)) | POLLHUP;
    else
      polled[i].revents |= polled[i].events & (POLLIN | POLLRDNORM);
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
  struct p3_waiting waiting;
  p3_wait_begin(&waiting, p3v_index, any_pending(count, input) ? &now : timeout, mask);
  fd_set kept[3] = {real[0], real[1], real[2]};
  int result;
  do {
    memcpy(real, kept, sizeof kept);
    result = pselect(highest + 1, &real[0], &real[1], &real[2], waiting.timeout, waiting.mask);
  } while (p3_wait_again(&waiting, result < 0));
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
  struct p3_waiting waiting;
  p3_wait_begin(&waiting, p3v_index, NULL, NULL);
  fd_set kept[3] = {real[0], real[1], real[2]};
  int result;
  do {
    memcpy(real, kept, sizeof kept);
    result = select(highest + 1, &real[0], &real[1], &real[2], any_pending(count, input) ? &now : timeout);
  } while (p3_wait_again(&waiting, result < 0));
  if (result < 0)
    return result;
  return translate_back(count, input, &real[0], true) + translate_back(count, output, &real[1], false) +
         translate_back(count, urgent, &real[2], false);
}

/* ---- epoll ---- */

/* Where the version waits for a logged input. The kernel knows only about the real one. */
struct watch {
  int epoll, fd; /* virtual */
  struct epoll_event event;
  bool spent;     /* EPOLLONESHOT */
  off_t reported; /* EPOLLET: what was there last time */
  struct watch *next;
};
static struct watch *watches;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct watch **find(int epoll, int fd) {
  struct watch **link = &watches;
  while (*link && ((*link)->epoll != epoll || (*link)->fd != fd))
    link = &(*link)->next;
  return link;
}

static void remember(int epoll, int operation, int fd, const struct epoll_event *event) {
  struct watch **link = find(epoll, fd), *watch = *link;
  if (operation == EPOLL_CTL_DEL) {
    if (watch) {
      *link = watch->next;
      free(watch);
    }
    return;
  }
  if (!watch && !(watch = *link = calloc(1, sizeof *watch)))
    return;
  *watch = (struct watch){epoll, fd, *event, false, 0, watch->next};
}

int SHIM(epoll_ctl)(int epoll, int operation, int fd, struct epoll_event *event) {
  int result = epoll_ctl(REAL(epoll), operation, META(fd), event);
  if (result == 0 && p3_fd_is_logged(p3v_index, fd)) {
    pthread_mutex_lock(&mutex);
    remember(epoll, operation, fd, event);
    pthread_mutex_unlock(&mutex);
  }
  return result;
}

void p3v_unwatch(int fd) {
  if (!watches)
    return;
  pthread_mutex_lock(&mutex);
  for (struct watch **link = &watches, *watch; (watch = *link);) {
    if (watch->epoll != fd && watch->fd != fd) {
      link = &watch->next;
      continue;
    }
    /* What the kernel watches stays open. */
    if (watch->fd == fd)
      epoll_ctl(REAL(watch->epoll), EPOLL_CTL_DEL, META(fd), NULL);
    *link = watch->next;
    free(watch);
  }
  pthread_mutex_unlock(&mutex);
}

/* Logged input, which is there at once, is no news twice for an edge-triggered watch. */
static bool is_ready(const struct watch *watch) {
  off_t pending = p3_fd_pending(p3v_index, watch->fd);
  return (watch->event.events & EPOLLIN || pending == P3_HUNG_UP) && !watch->spent && pending != 0 &&
         !(watch->event.events & EPOLLET && pending == watch->reported);
}

static bool any_ready(int epoll) {
  bool ready = false;
  pthread_mutex_lock(&mutex);
  for (struct watch *watch = watches; watch; watch = watch->next)
    ready |= watch->epoll == epoll && is_ready(watch);
  pthread_mutex_unlock(&mutex);
  return ready;
}

/* Adds the logged input that is ready to what the kernel reports; the new number of events. */
static int add_ready(int epoll, struct epoll_event *events, int found, int count) {
  int total = found;
  pthread_mutex_lock(&mutex);
  for (struct watch *watch = watches; watch; watch = watch->next) {
    if (watch->epoll != epoll || !is_ready(watch))
      continue;
    int at = 0;
    while (at < found && events[at].data.u64 != watch->event.data.u64)
      at++;
    if (at == found) {
      if (total == count)
        break;
      at = total++;
      events[at] = (struct epoll_event){.data = watch->event.data};
    }
    watch->reported = p3_fd_pending(p3v_index, watch->fd);
    if (watch->reported == P3_HUNG_UP)
      events[at].events = (events[at].events & ~(EPOLLIN | EPOLLRDNORM)) | EPOLLHUP;
    else
      events[at].events |= watch->event.events & (EPOLLIN | EPOLLRDNORM);
    watch->spent = watch->event.events & EPOLLONESHOT;
  }
  pthread_mutex_unlock(&mutex);
  return total;
}

int SHIM(epoll_pwait2)(int epoll, struct epoll_event *events, int count, const struct timespec *timeout,
                       const sigset_t *mask) {
  static const struct timespec now;
  bool ready = watches && count > 0 && any_ready(epoll);
  struct p3_waiting waiting;
  p3_wait_begin(&waiting, p3v_index, ready ? &now : timeout, mask);
  int found;
  do
    found = epoll_pwait2(REAL(epoll), events, count, waiting.timeout, waiting.mask);
  while (p3_wait_again(&waiting, found < 0));
  return found >= 0 && ready ? add_ready(epoll, events, found, count) : found;
}

int SHIM(epoll_pwait)(int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *mask) {
  bool ready = watches && count > 0 && any_ready(epoll);
  struct timespec time = {timeout / 1000, timeout % 1000 * 1000000L};
  struct p3_waiting waiting;
  p3_wait_begin(&waiting, p3v_index, timeout < 0 ? NULL : &time, mask);
  int found;
  do {
    if (waiting.timeout)
      timeout = (int)(waiting.timeout->tv_sec * 1000 + (waiting.timeout->tv_nsec + 999999) / 1000000);
    found = epoll_pwait(REAL(epoll), events, count, ready ? 0 : timeout, waiting.mask);
  } while (p3_wait_again(&waiting, found < 0));
  return found >= 0 && ready ? add_ready(epoll, events, found, count) : found;
}

int SHIM(epoll_wait)(int epoll, struct epoll_event *events, int count, int timeout) {
  return SHIM(epoll_pwait)(epoll, events, count, timeout, NULL);
}
