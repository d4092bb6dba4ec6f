// poll, select, epoll, FIONREAD and O_NONBLOCK on a FIFO that is opened by name.
//@ run: not blocking
//@ args: held
//@ fifo-held: held "hello, world"
//@ expect: output
//@ run: to the end
//@ fifo: written "hello, world"
//@ expect: output
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>

static int polled(int fd, int timeout) {
  struct pollfd ask = {.fd = fd, .events = POLLIN};
  int ready = poll(&ask, 1, timeout);
  return ready * 1000 + ((ask.revents & POLLIN) != 0);
}

static int selected(int fd) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(fd, &set);
  struct timeval now = {0, 0};
  return select(fd + 1, &set, NULL, NULL, &now) * 10 + (FD_ISSET(fd, &set) != 0);
}

static int events(int epoll) {
  struct epoll_event event = {0};
  int ready = epoll_wait(epoll, &event, 1, 0);
  return ready * 1000 + event.data.fd * ready * 10 + ((event.events & EPOLLIN) != 0);
}

static void read_some(int fd, int size) {
  char bytes[20];
  errno = 0;
  size = read(fd, bytes, size);
  printf("%d %d: %.*s|\n", size, errno, size > 0 ? size : 0, bytes);
}

static void not_blocking(void) {
  int fd = open("held", O_RDONLY | (V == 2 ? O_NONBLOCK : 0)), epoll = epoll_create1(0), left = -1;
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  printf("%d\n", epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
  printf("%d %d %d %x\n", polled(fd, 5000), selected(fd), events(epoll), fcntl(fd, F_GETFL) & O_NONBLOCK);
  ioctl(fd, FIONREAD, &left);
  printf("%d\n", left);
  read_some(fd, 5);
  ioctl(fd, FIONREAD, &left);
  printf("%d %d %d %d\n", left, polled(fd, 0), selected(fd), events(epoll));
  read_some(fd, 20);
  ioctl(fd, FIONREAD, &left);
  printf("%d %d %d %d\n", left, polled(fd, 0), selected(fd), events(epoll));
  if (V == 1)
    fcntl(fd, F_SETFL, O_NONBLOCK);
  read_some(fd, 20);
  int on = 0;
  ioctl(fd, FIONBIO, &on);
  printf("%x\n", fcntl(fd, F_GETFL) & O_NONBLOCK);
  on = 1;
  ioctl(fd, FIONBIO, &on);
  read_some(fd, 1);
  close(fd);
}

static void to_the_end(void) {
  int fd = open("written", O_RDONLY), calls = 0, size, total = 0;
  char bytes[20];
  struct pollfd ask = {.fd = fd, .events = POLLIN};
  do {
    poll(&ask, 1, 5000);
    if (!(ask.revents & POLLIN))
      printf("nothing more, %x\n", ask.revents);
    calls++;
    size = read(fd, bytes, V == 2 ? 4 : 6);
    total += size;
  } while (size > 0 && calls < 10);
  printf("%d in %d calls, select %d\n", total, calls, selected(fd));
  ask.events = 0;
  printf("%d %x\n", poll(&ask, 1, 5000), ask.revents);
}

int main(int count, char **arguments) {
  (void)arguments;
  if (count > 1)
    not_blocking();
  else
    to_the_end();
  return 0;
}
