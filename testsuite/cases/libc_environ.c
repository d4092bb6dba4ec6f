// environ, getenv, setenv, putenv, unsetenv and clearenv: an environment per version, also for localtime and getopt.
//@ env: A=1 B=2 TZ=UTC
//@ run: same
//@ run: the second version sets another value
//@ args: x
//@ expect: output
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern char **environ;
extern char **__environ;

static void show(const char *title) {
  printf("%s:", title);
  for (char **at = environ; at && *at; at++)
    if (strncmp(*at, "PATH=", 5) != 0)
      printf(" %s", *at);
  printf(" (%s)\n", environ == __environ ? "one" : "two");
}

int main(int argc, char **argv, char **envp) {
  static char put[] = "PUT=old";
  time_t zero = 0;
  show("start");
  printf("envp %d\n", envp == environ);
  printf("%s %s %s\n", getenv("A"), getenv("NONE") ? "?" : "none", getenv("") ? "?" : "none");
  setenv("A", "3", 0);
  setenv("NEW", argc > 1 && V == 2 ? "v2" : "v1", 0);
  setenv("B", "four", 1);
  putenv(put);
  show("set");
  strcpy(put, "PUT=new");
  printf("%s\n", getenv("PUT"));
  putenv("A");
  unsetenv("B");
  printf("%d %d", setenv("X=Y", "1", 1), errno == EINVAL);
  printf(" %d %d\n", unsetenv(""), errno == EINVAL);
  show("unset");
  setenv("TZ", "XYZ-5", 1);
  printf("%s", ctime(&zero));
  char *own[] = {"ONLY=1", "TZ=ABC3", NULL};
  environ = own;
  show("own");
  printf("%s %s", getenv("ONLY"), ctime(&zero));
  setenv("MORE", "2", 1);
  show("more");
  printf("own[2] %s\n", own[2] ? own[2] : "none");
  clearenv();
  show("cleared");
  printf("%s\n", getenv("PATH") ? "?" : "none");
  setenv("AGAIN", "", 1);
  show("again");
  for (int i = 0; i < 1000; i++)
    setenv("AGAIN", i % 2 ? "odd" : "even", 1);
  show("toggled");
  return 0;
}
