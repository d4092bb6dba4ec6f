// system: its output stands in order, the shell sees the version's environment and directory, the status comes back.
//@ stdin: pipe "for the shell\nrest\n"
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  printf("shell %d\n", system(NULL) != 0);
  fflush(stdout);
  setenv("WORD", V == 2 ? "two" : "one", 1);
  mkdir("place", 0755);
  chdir("place");
  int status = system("read line; echo \"$WORD $line $(basename $PWD)\"; echo error >&2; exit 5");
  printf("status %d\n", WEXITSTATUS(status));
  fflush(stdout);
  status = system("kill -TERM $$");
  printf("signaled %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  return 0;
}
