// poll, select, FIONREAD and non-blocking reads on standard input.
//@ run: pipe
//@ stdin: pipe "hello"
//@ expect: output
//@ run: file
//@ stdin: file "hello"
//@ expect: output
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>

int main(void) {
  char buffer[16];
  struct pollfd ask[] = {{.fd = 0, .events = POLLIN}, {.fd = 1, .events = POLLOUT}};
  printf("%d", poll(ask, 2, 5000));
  printf(" %d %d\n", (ask[0].revents & POLLIN) != 0, (ask[1].revents & POLLOUT) != 0);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(0, &set);
  struct timeval limit = {.tv_sec = 5};
  printf("%d %d\n", select(1, &set, NULL, NULL, &limit), FD_ISSET(0, &set) != 0);
  ssize_t size, total = 0;
  while ((size = read(0, buffer, V + 1)) > 0)
    total += size;
  printf("%zd %zd\n", total, size);
  printf("%d\n", fcntl(0, F_GETFL) & O_ACCMODE);
  printf("%d\n", V);
  return 0;
}
