// fork: child and parent both print, the child's status, unflushed output that both have.
//@ run: pipe
//@ stdin: pipe "abcdef"
//@ expect: both
//@ run: file
//@ stdin: file "abcdef"
//@ stdout: file
//@ expect: both
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void handler(void) { printf("handler\n"); }

int main(void) {
  char bytes[4] = "";
  atexit(handler);
  printf("twice ");
  pid_t child = fork();
  if (child == 0) {
    printf("child %d\n", getppid() != getpid());
    read(0, bytes, 2);
    printf("read %s\n", bytes);
    exit(10 + V);
  }
  int status;
  printf("waited %d\n", waitpid(child, &status, 0) == child);
  printf("child exited %d\n", WEXITSTATUS(status));
  read(0, bytes, 3);
  printf("read %s\n", bytes);
  fflush(stdout);
  child = fork();
  if (child == 0)
    _exit(3);
  wait(&status);
  child = fork();
  if (child == 0)
    abort();
  wait(&status);
  printf("signaled %d %d\n", WIFSIGNALED(status), WTERMSIG(status));
  printf("%d\n", wait(&status));
  return V;
}
