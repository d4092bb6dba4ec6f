// A version crashes in lock-step after versions changed what a process inherits by exec: directory, mask for
// files, limits, signals, offsets, environment. All begin with what they would find alone.
//@ levels: -O0 -O2
//@ expect: both
//@ env: A=1
//@ stdin: file 30*"0123456789\n"
//@ run: a file
//@ run: a pipe
//@ stdin: pipe 30*"0123456789\n"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int *volatile nowhere;

static void look(const char *when) {
  char directory[4096];
  mode_t mask = umask(0);
  umask(mask);
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  sigset_t set;
  sigprocmask(SIG_BLOCK, NULL, &set);
  struct sigaction user, pipe;
  sigaction(SIGUSR1, NULL, &user);
  sigaction(SIGPIPE, NULL, &pipe);
  getcwd(directory, sizeof directory);
  printf("%s: %s %o %d %d %d %d %d %s\n", when, strrchr(directory, '/'), mask, limit.rlim_cur == 50,
         sigismember(&set, SIGUSR2), user.sa_handler == SIG_IGN, pipe.sa_handler == SIG_IGN,
         fcntl(3, F_GETFD), getenv("A"));
  fflush(stdout);
}

int main(void) {
  char line[20];
  look("first");
  for (int i = 0; i < 3; i++)
    fputs(fgets(line, sizeof line, stdin), stdout);
  mkdir("below", 0777);
  chdir("below");
  umask(V == 1 ? 077 : 027);
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 50;
  setrlimit(RLIMIT_NOFILE, &limit);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(SIGUSR2);
  signal(SIGUSR1, SIG_IGN);
  setenv("A", "2", 1);
  open("/dev/null", O_RDONLY);
  look("second");
  unlink("made"); /* of the first run, or of the other version */
  close(creat("made", 0666));
  struct stat stat_of;
  stat("made", &stat_of);
  printf("%o\n", stat_of.st_mode & 0777);
  if (V == 1)
    *nowhere = 1;
  unlink("made");
  while (fgets(line, sizeof line, stdin))
    fputs(line, stdout);
  look("third");
  signal(SIGUSR2, SIG_IGN);
  return 0;
}
