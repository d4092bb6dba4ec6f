/* login_tty and forkpty, which act on descriptors 0-2 and fork inside libc; here, on the version's. */
#include "p3v_libc.h"
#include "p3v_streams.h"
#include <errno.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utmp.h>

pid_t SHIM(fork)(void);
pid_t SHIM(setsid)(void);
int SHIM(dup2)(int from, int to);
int SHIM(ioctl)(int fd, unsigned long request, ...);
int SHIM(openpty)(int *leader, int *follower, char *name, const struct termios *terminal,
                  const struct winsize *size);

int SHIM(login_tty)(int fd) {
  SHIM(setsid)();
  if (SHIM(ioctl)(fd, TIOCSCTTY, NULL) == -1)
    return -1;
  for (int standard = 0; standard <= 2; standard++)
    while (SHIM(dup2)(fd, standard) == -1 && errno == EBUSY)
      ;
  if (fd > 2)
    SHIM(close)(fd);
  return 0;
}

int SHIM(forkpty)(int *leader, char *name, const struct termios *terminal, const struct winsize *size) {
  int first, second;
  if (SHIM(openpty)(&first, &second, name, terminal, size) == -1)
    return -1;
  pid_t child = SHIM(fork)();
  if (child == -1) {
    SHIM(close)(first);
    SHIM(close)(second);
  } else if (child == 0) {
    SHIM(close)(first);
    if (SHIM(login_tty)(second) != 0)
      SHIM(_exit)(1);
  } else {
    *leader = first;
    SHIM(close)(second);
  }
  return child;
}
