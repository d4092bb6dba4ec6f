// What belongs to a call stays with it when both versions make it: errno, and whose directory and locale it is, also
// where a handler may end the version meanwhile.
//@ run: ends in an exit handler
//@ args: e
//@ expect: output
//@ run: handles signals
//@ args: s
//@ expect: output
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile int never;

static void leave(void) {
  if (never)
    _exit(3);
}

static void on_signal(int number) {
  if (never)
    exit(number);
}

int main(int argc, char **argv) {
  char path[4096], own[20], *got;
  if (argv[1][0] == 'e')
    atexit(leave);
  else
    signal(SIGUSR1, on_signal);
  errno = 0;
  got = getcwd(path, V == 1 ? 2 : sizeof path);
  printf("%d %d\n", got != NULL, errno);
  errno = V;
  got = realpath(V == 1 ? "." : "/none", path);
  printf("%d %d\n", got != NULL, errno);
  snprintf(own, sizeof own, "v%d", V);
  mkdir(own, 0700);
  chdir(own);
  umask(V == 1 ? 0 : 077);
  got = getcwd(path, sizeof path);
  printf("%s\n", strrchr(got, '/'));
  got = get_current_dir_name();
  printf("%s\n", strrchr(got, '/'));
  FILE *file = fopen("f", "w");
  fclose(file);
  struct stat status;
  stat("f", &status);
  printf("%o %d\n", status.st_mode & 0777, access("f", F_OK));
  setlocale(LC_ALL, V == 1 ? "C" : "C.UTF-8");
  snprintf(path, sizeof path, "%lc", L'x');
  printf("%s %zu\n", path, MB_CUR_MAX);
  return 0;
}
