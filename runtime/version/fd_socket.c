/* Sockets. On standard streams that are sockets, sending is writing and receiving is reading; control
 * messages that carry descriptors carry virtual numbers. */
#include "p3v_streams.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

PASS(int, bind, (int fd, const struct sockaddr *address, socklen_t size), META(fd), address, size)
PASS(int, connect, (int fd, const struct sockaddr *address, socklen_t size), META(fd), address, size)
PASS(int, listen, (int fd, int backlog), META(fd), backlog)
PASS(int, getsockname, (int fd, struct sockaddr *address, socklen_t *size), META(fd), address, size)
PASS(int, getpeername, (int fd, struct sockaddr *address, socklen_t *size), META(fd), address, size)
PASS(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *size), META(fd), level, name,
     value, size)
PASS(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t size), META(fd), level, name,
     value, size)
PASS(int, shutdown, (int fd, int how), META(fd), how)
PASS(int, sockatmark, (int fd), META(fd))
PASS(int, isfdtype, (int fd, int type), META(fd), type)

static bool is_socket(int fd) {
  struct stat stat;
  return p3_fd_stat(p3v_index, fd, &stat) == 0 && S_ISSOCK(stat.st_mode);
}

static ssize_t not_a_socket(void) {
  errno = ENOTSOCK;
  return -1;
}

ssize_t SHIM(sendto)(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *address,
                     socklen_t address_size) {
  if (!p3_fd_is_captured(p3v_index, fd))
    return sendto(META(fd), bytes, size, flags, address, address_size);
  return is_socket(fd) ? p3_fd_write(p3v_index, fd, bytes, size) : not_a_socket();
}

ssize_t SHIM(send)(int fd, const void *bytes, size_t size, int flags) {
  return SHIM(sendto)(fd, bytes, size, flags, NULL, 0);
}

ssize_t SHIM(recvfrom)(int fd, void *bytes, size_t size, int flags, struct sockaddr *address,
                       socklen_t *address_size) {
  if (!p3_fd_is_logged(p3v_index, fd))
    return recvfrom(META(fd), bytes, size, flags, address, address_size);
  if (!is_socket(fd))
    return not_a_socket();
  if (address_size)
    *address_size = 0;
  ssize_t done = p3_fd_read(p3v_index, fd, bytes, size);
  if (done > 0 && flags & MSG_PEEK)
    p3_fd_unread(p3v_index, fd, done);
  return done;
}

ssize_t SHIM(recv)(int fd, void *bytes, size_t size, int flags) {
  return SHIM(recvfrom)(fd, bytes, size, flags, NULL, NULL);
}

void SHIM(__chk_fail)(void);

ssize_t SHIM(__recv_chk)(int fd, void *bytes, size_t size, size_t room, int flags) {
  if (size > room)
    SHIM(__chk_fail)();
  return SHIM(recv)(fd, bytes, size, flags);
}

ssize_t SHIM(__recvfrom_chk)(int fd, void *bytes, size_t size, size_t room, int flags,
                             struct sockaddr *address, socklen_t *address_size) {
  if (size > room)
    SHIM(__chk_fail)();
  return SHIM(recvfrom)(fd, bytes, size, flags, address, address_size);
}

/* Calls `change` for every descriptor in the control messages. */
static void each_passed(struct msghdr *message, int (*change)(int fd)) {
  for (struct cmsghdr *control = CMSG_FIRSTHDR(message); control; control = CMSG_NXTHDR(message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
      continue;
    size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
      fd = change(fd);
      memcpy(CMSG_DATA(control) + i * sizeof fd, &fd, sizeof fd);
    }
  }
}

static int to_real(int fd) { return REAL(fd); }

static int to_virtual(int real) { return NEW(real); }

ssize_t SHIM(sendmsg)(int fd, const struct msghdr *message, int flags) {
  if (p3_fd_is_captured(p3v_index, fd))
    return is_socket(fd) ? p3_fd_writev(p3v_index, fd, message->msg_iov, message->msg_iovlen)
                         : not_a_socket();
  if (!message->msg_control || !message->msg_controllen)
    return sendmsg(META(fd), message, flags);
  struct msghdr copy = *message;
  copy.msg_control = malloc(copy.msg_controllen);
  if (!copy.msg_control) {
    errno = ENOBUFS;
    return -1;
  }
  memcpy(copy.msg_control, message->msg_control, copy.msg_controllen);
  each_passed(&copy, to_real);
  ssize_t done = sendmsg(META(fd), &copy, flags);
  int error = errno;
  free(copy.msg_control);
  errno = error;
  return done;
}

ssize_t SHIM(recvmsg)(int fd, struct msghdr *message, int flags) {
  if (p3_fd_is_logged(p3v_index, fd)) {
    if (!is_socket(fd))
      return not_a_socket();
    message->msg_controllen = message->msg_namelen = message->msg_flags = 0;
    return p3_fd_readv(p3v_index, fd, message->msg_iov, message->msg_iovlen);
  }
  ssize_t done = recvmsg(META(fd), message, flags);
  if (done >= 0 && message->msg_controllen)
    each_passed(message, to_virtual);
  return done;
}

int SHIM(sendmmsg)(int fd, struct mmsghdr *messages, unsigned count, int flags) {
  for (unsigned i = 0; i < count; i++) {
    ssize_t done = SHIM(sendmsg)(fd, &messages[i].msg_hdr, flags);
    if (done < 0)
      return i ? (int)i : -1;
    messages[i].msg_len = done;
  }
  return count;
}

int SHIM(recvmmsg)(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
  if (p3_fd_is_logged(p3v_index, fd)) {
    ssize_t done = count ? SHIM(recvmsg)(fd, &messages[0].msg_hdr, flags) : 0;
    if (done < 0)
      return -1;
    if (count)
      messages[0].msg_len = done;
    return count ? 1 : 0;
  }
  int result = recvmmsg(META(fd), messages, count, flags, timeout);
  for (int i = 0; i < result; i++)
    if (messages[i].msg_hdr.msg_controllen)
      each_passed(&messages[i].msg_hdr, to_virtual);
  return result;
}
