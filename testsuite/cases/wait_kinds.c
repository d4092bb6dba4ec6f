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

int main(void) {
  int status = 0;
  siginfo_t info = {0};
  struct rusage usage;
  show("no child", wait(&status), 1, 0);
  show("no child, no hang", waitpid(-1, &status, WNOHANG), 1, 0);
  pid_t child = begin(50, 3 + V);
  show("no hang", waitpid(-1, &status, WNOHANG), child, 0);
  show("an empty group", waitpid(-child - 1000, &status, 0), child, 0);
  show("wait", wait(&status), child, status);
  if ((child = fork()) == 0) {
    raise(SIGSTOP);
    _exit(9);
  }
  show("stopped", waitpid(child, &status, WUNTRACED), child, status);
  kill(child, SIGCONT);
  show("continued", waitpid(-1, &status, WCONTINUED), child, status);
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
  for (int i = 0; i < 3; i++)
    begin(i * 30, i);
  for (int i = 0; i < 4; i++)
    show("one of three", wait(&status) > 0 ? 1 : -1, 1, status);
  child = begin(0, 5);
  show("the own group", waitpid(0, &status, 0), child, status);
  return 0;
}
