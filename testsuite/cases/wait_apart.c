// A version that has no child left does not wait for the other's, which is told to end later only.
//@ expect: output
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t begin_endless(void) {
  pid_t child = fork();
  while (child == 0)
    pause();
  return child;
}

static void show(const char *what, pid_t got, pid_t child, int status) {
  printf("%d %s: %s, status %#x, errno %d\n", V, what, got == child ? "the child" : got < 0 ? "failed" : "another one",
         status, got < 0 ? errno : 0);
}

static void all_gone(void) {
  int status = 0;
  show("none left", wait(&status), 0, status);
  show("none in the group", waitpid(0, &status, 0), 0, status);
}

int main(void) {
  int status = 0;
  /* Nobody waits for this one. */
  signal(SIGCHLD, SIG_IGN);
  if (fork() == 0)
    _exit(0);
  show("ignored", wait(&status), 0, status);
  pid_t child = begin_endless();
  kill(child, SIGKILL);
  show("ignored, killed", wait(&status), child, status);
#if V == 1
  all_gone();
#endif
  signal(SIGCHLD, SIG_DFL);
  child = begin_endless();
#if V == 1
  kill(child, SIGKILL);
  show("killed", wait(&status), child, status);
  all_gone();
  child = begin_endless();
#endif
  kill(child, SIGTERM);
  show("terminated", waitpid(-1, &status, 0), child, status);
  all_gone();
  /* One is left over where it was not waited for. */
  signal(SIGCHLD, SIG_IGN);
  child = begin_endless();
#if V == 1
  kill(child, SIGKILL);
  show("ignored, early", wait(&status), child, status);
#else
  kill(child, SIGKILL);
  show("ignored, late", waitpid(0, &status, 0), child, status);
#endif
  return 0;
}
