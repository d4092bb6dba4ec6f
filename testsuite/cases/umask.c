// The umask: each version its own, seen by open, mkdir, creat and children.
//@ expect: output
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void mode(const char *path) {
  struct stat status;
  stat(path, &status);
  printf("%s %o\n", path, status.st_mode & 0777);
}

int main(void) {
  /* Files that versions in lock-step write collide, so each has a directory of its own. */
  char own[] = "umaskXXXXXX";
  if (!mkdtemp(own) || chdir(own) != 0)
    return 9;
  umask(022);
  printf("%o\n", umask(V == 2 ? 027 : 077));
  close(open("file", O_CREAT | O_WRONLY, 0666));
  mkdir("dir", 0777);
  fclose(fopen("stdio", "w"));
  mode("file");
  mode("dir");
  mode("stdio");
  fflush(stdout);
  system("umask");
  unlink("file");
  unlink("stdio");
  rmdir("dir");
  printf("%o\n", umask(0));
  return 0;
}
