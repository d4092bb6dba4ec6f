// Calls through one table of the program's own functions and of those that dlsym has found: before the latter the process
// changes hands, before the former it need not.
//@ expect: output
//@ link: -ldl
//@ run: no signals
//@ run: signals
//@ args: signals
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef long function(long, const void *, long);

static long quiet(long a, const void *text, long b) { return a + b + (text != NULL); }
static long loud(long a, const void *text, long b) {
  fflush(stdout);
  return write((int)a, text, b);
}
static long deep(long a, const void *text, long b) {
  static function *volatile again = loud;
  return again(a, text, b) + V;
}

static volatile int caught;
static void handler(int number) { caught += number; }

int main(int argc, char **argv) {
  if (argc > 1)
    signal(SIGUSR1, handler);
  function *table[] = {quiet, loud, dlsym(RTLD_DEFAULT, "write"), deep};
  char *(*find)(const char *) = (char *(*)(const char *))dlsym(RTLD_DEFAULT, "getenv");
  int (*in_directory)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_DEFAULT, "access");
  setenv("MINE", V == 1 ? "one" : "two", 1);
  char *own = NULL;
  for (long i = 0; i < 40; i++) {
    char line[40];
    long size = sprintf(line, "%ld in version %d\n", i, V);
    long result = table[i * 7 % 4](1 + i % 2, line, size);
    printf("%ld ", result);
    fflush(stdout);
    if (argc > 1 && i % 8 == 3)
      raise(SIGUSR1);
    if (i == 20)
      own = find("MINE");
  }
  printf("\n%d %s %s\n", caught, own ? own : "none", getenv("MINE"));
  chdir(V == 1 ? "/" : "/usr");
  printf("%d %d\n", in_directory("bin", F_OK), in_directory("usr", F_OK));
  return 0;
}
