// Calls through pointers whose results are used, of functions that may come back in a child in which one version runs.
//@ versions: 2
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int in_child(int value) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0)
    return value + V;
  int status = 0;
  waitpid(child, &status, 0);
  return -WEXITSTATUS(status);
}

static int here(int value) { return value * V; }

static int (*const table[])(int) = {here, in_child, here, abs};

int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; i < 4; i++) {
    int result = table[(i + argc - 1) % 4](i + 5);
    if (result == 6 + V && i == 1)
      _exit(result);
    printf("%d %d\n", i, result);
  }
  return 0;
}
