// The limit of open descriptors is each version's own, also while versions that run in lock-step have as many
// open between them as one may have.
//@ expect: output
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void) {
  struct rlimit limit;
  setvbuf(stdout, NULL, _IONBF, 0);
  getrlimit(RLIMIT_NOFILE, &limit);
  printf("%d %d\n", sysconf(_SC_OPEN_MAX) == (long)limit.rlim_cur, getdtablesize() == (int)limit.rlim_cur);
  limit.rlim_cur = 200 + V;
  printf("%d\n", setrlimit(RLIMIT_NOFILE, &limit));
  printf("%ld %d %d\n", sysconf(_SC_OPEN_MAX), getdtablesize(), dup2(1, 200));
  int fd, last = 0;
  while ((fd = open("/dev/null", O_RDONLY)) >= 0)
    last = fd;
  printf("%d %d", last, errno == EMFILE);
  printf(" %d %d\n", dup(1), errno == EMFILE);
  printf("%d %d\n", fcntl(1, F_DUPFD, 201), errno == EINVAL ? 1 : errno == EMFILE ? 2 : 0);
  printf("%d\n", fopen("/dev/null", "r") == NULL);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  printf("%d %d\n", posix_spawn_file_actions_addclose(&actions, 200) == EBADF,
         posix_spawn_file_actions_addclose(&actions, 201) == EBADF);
  close_range(3, 200, 0);
  system("ulimit -Sn");
  return 0;
}
