// The environment: order, setenv, putenv, unsetenv, clearenv and assignments to environ itself.
//@ env: B=2 A=1 "EMPTY=" PATHLIKE=/a:/b
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void list(const char *title) {
  printf("%s\n", title);
  for (char **e = environ; e && *e; e++)
    if (strncmp(*e, "PATH=", 5))
      printf("  %s\n", *e);
}

int main(int argc, char **argv, char **envp) {
  static char mine[] = "MINE=here";
  printf("envp is environ: %d\n", envp == environ);
  list("start");
  setenv("A", V == 2 ? "two" : "one", 1);
  setenv("B", "not", 0);
  setenv("NEW", "new", 1);
  putenv(mine);
  unsetenv("EMPTY");
  mine[5] = 'H';
  list("changed");
  printf("%s %s %d\n", getenv("MINE"), getenv("A"), getenv("EMPTY") == NULL);
  printf("%d\n", setenv("", "x", 1));
  char *own[] = {"ONLY=this", NULL};
  environ = own;
  printf("%s %d\n", getenv("ONLY"), getenv("A") == NULL);
  setenv("MORE", "x", 1);
  list("own");
  clearenv();
  list("cleared");
  setenv("AFTER", "1", 1);
  list("after");
  fflush(stdout);
  return system("echo child: $AFTER $A");
}
