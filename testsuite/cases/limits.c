// Resource limits and priority: what one version sets does not bind the other, but its children.
//@ expect: output
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void) {
  struct rlimit limit;
  setvbuf(stdout, NULL, _IONBF, 0);
  getrlimit(RLIMIT_NOFILE, &limit);
  printf("%d\n", limit.rlim_cur > 50);
  limit = (struct rlimit){9 + V, 20};
  printf("%d\n", setrlimit(RLIMIT_NOFILE, &limit));
  int opened = 0;
  while (open("/dev/null", O_RDONLY) >= 0)
    opened++;
  printf("%d %d\n", opened, errno == EMFILE);
  for (int fd = 3; fd < 9 + V; fd++)
    close(fd);
  getrlimit(RLIMIT_NOFILE, &limit);
  printf("%d %d\n", (int)limit.rlim_cur, (int)limit.rlim_max);
  printf("%d %d\n", nice(2 + V), getpriority(PRIO_PROCESS, 0));
  system("ulimit -n; ulimit -Hn; nice");
  signal(SIGXFSZ, SIG_IGN);
  limit = (struct rlimit){100, 100};
  setrlimit(RLIMIT_FSIZE, &limit);
  int file = open("big", O_WRONLY | O_CREAT, 0600);
  char bytes[200] = "";
  printf("%zd ", write(file, bytes, sizeof bytes));
  printf("%zd ", write(file, bytes, 1));
  printf("%d\n", errno == EFBIG);
  unlink("big");
  return 0;
}
