// The current directory: each version its own, also for relative names and with fchdir.
//@ expect: output
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void where(void) {
  char path[4096];
  getcwd(path, sizeof path);
  printf("%s\n", strrchr(path, '/'));
}

int main(void) {
  /* Files that versions in lock-step write collide, so each has a directory of its own. */
  char own[] = "chdirXXXXXX";
  if (!mkdtemp(own) || chdir(own) != 0)
    return 9;
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
  printf("%d\n", access("one", F_OK));
  chdir("/");
  where();
  return 0;
}
