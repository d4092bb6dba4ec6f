// A version crashes in lock-step while it has children: some have ended, some have printed, one would run for
// ever and must not be found by anybody afterwards.
//@ levels: -O1
//@ expect: both
//@ stdin: pipe 5*"a line\n"
//@ run: 1 crashes
//@ args: 1
//@ run: 2 crashes
//@ args: 2
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int *volatile nowhere;

int main(int argc, char **argv) {
  char line[20];
  printf("none: %d", (int)wait(NULL));
  printf(" %d\n", errno == ECHILD);
  fputs(fgets(line, sizeof line, stdin), stdout);
  fflush(stdout);
  system("echo from a shell; read line; echo $line");
  if (fork() == 0) {
    printf("from a child\n");
    exit(5);
  }
  int status;
  wait(&status);
  printf("%d\n", WEXITSTATUS(status));
  pid_t running = fork();
  if (running == 0)
    for (;;)
      usleep(10000);
  FILE *pipe = popen("echo one; echo two", "r");
  fputs(fgets(line, sizeof line, pipe), stdout);
  if (atoi(argv[1]) == V) {
    kill(running, SIGKILL); /* so that nobody waits for what it holds open */
    *nowhere = 1;
  }
  fputs(fgets(line, sizeof line, pipe), stdout);
  printf("%d\n", pclose(pipe));
  kill(running, SIGTERM);
  printf("%d\n", wait(&status) == running);
  printf("%d %d\n", WTERMSIG(status), wait(NULL));
  fputs(fgets(line, sizeof line, stdin), stdout);
  return argc;
}
