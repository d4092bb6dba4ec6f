// All ways to wait for a child, and what they say when there is none.
//@ expect: output
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *what, pid_t got, pid_t child, int status) {
  const char *which = got == child ? "the child" : got == 0 ? "nothing" : got < 0 ? "failed" : "another one";
  printf("%s: %s, status %#x, errno %d\n", what, which, status, got < 0 ? errno : 0);
}

static pid_t ask(idtype_t type, int options, siginfo_t *info) {
  info->si_pid = 0;
  return waitid(type, 0, info, options) == 0 ? info->si_pid : -1;
}

/* A child that ends after a while. */
static pid_t begin(int milliseconds, int status) {
  pid_t child = fork();
  if (child == 0) {
    usleep(milliseconds * 1000);
    _exit(status);
  }
  return child;
}

/* A child that ends, by signal, when it is told to. */
static pid_t begin_endless(void) {
  pid_t child = fork();
  while (child == 0)
    pause();
  return child;
}

/* A child that stops, goes on when it is told to, and ends when it is told to. */
static pid_t begin_stopped(int status, int *end) {
  int ends[2];
  char none;
  pipe(ends);
  pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    raise(SIGSTOP);
    read(ends[0], &none, 1);
    _exit(status);
  }
  close(ends[0]);
  *end = ends[1];
  return child;
}

int main(void) {
  int status = 0;
  siginfo_t info = {0};
  struct rusage usage;
  show("no child", wait(&status), 1, 0);
  show("no child, no hang", waitpid(-1, &status, WNOHANG), 1, 0);
  pid_t child = begin_endless();
  show("no hang", waitpid(-1, &status, WNOHANG), child, 0);
  show("an empty group", waitpid(-child - 1000, &status, 0), child, 0);
  kill(child, SIGKILL);
  show("killed", wait(&status), child, status);
  child = begin(50, 3 + V);
  show("wait", wait(&status), child, status);
  int end;
  child = begin_stopped(9, &end);
  show("stopped", waitpid(child, &status, WUNTRACED), child, status);
  kill(child, SIGCONT);
  show("continued", waitpid(-1, &status, WCONTINUED), child, status);
  close(end);
  show("wait4", wait4(-1, &status, 0, &usage), child, status);
  child = begin(0, 7);
  show("left waiting", ask(P_ALL, WEXITED | WNOWAIT, &info), child, info.si_status);
  show("taken", ask(P_ALL, WEXITED, &info), child, info.si_status);
  show("no kind", ask(P_ALL, WNOHANG, &info), child, 0);
  show("no type", ask(77, WEXITED, &info), child, 0);
  signal(SIGCHLD, SIG_IGN);
  show("ignored", begin(30, 1) > 0 ? wait(&status) : 0, child, 0);
  child = begin(30, 1);
  show("ignored, by number", waitpid(child, &status, 0), child, 0);
  signal(SIGCHLD, SIG_DFL);
  static const int signals[] = {SIGTERM, SIGKILL, SIGUSR1};
  pid_t three[3];
  for (int i = 0; i < 3; i++)
    three[i] = begin_endless();
  for (int i = 0; i < 3; i++) {
    kill(three[i], signals[i]);
    show("one of three", wait(&status), three[i], status);
  }
  show("all three", wait(&status), 1, 0);
  child = begin(0, 5);
  show("the own group", waitpid(0, &status, 0), child, status);
  return 0;
}
