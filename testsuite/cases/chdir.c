// The current directory: each version its own, also for relative names and with fchdir.
//@ expect: output
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void where(void) {
  char path[4096];
  getcwd(path, sizeof path);
  printf("%s\n", strrchr(path, '/'));
}

int main(void) {
  where();
  mkdir("one", 0700);
  mkdir("two", 0700);
  int start = open(".", O_RDONLY | O_DIRECTORY);
  chdir(V == 2 ? "two" : "one");
  where();
  FILE *file = fopen("here", "w");
  fclose(file);
  printf("%d %d\n", access("../one/here", F_OK), access("here", F_OK));
  printf("%d %d\n", chdir("nowhere"), errno == ENOENT);
  unlink("here");
  fchdir(start);
  where();
  chdir("/");
  where();
  return 0;
}
