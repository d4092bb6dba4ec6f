// Directories and files: opendir order-free listing, stat, rename, glob, a lock, symbolic links.
//@ expect: output
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
  char name[16], target[64] = "";
  /* Files that versions in lock-step write collide, so each has a directory of its own. */
  char own[] = "directoryXXXXXX";
  if (!mkdtemp(own) || chdir(own) != 0)
    return 9;
  mkdir("d", 0700);
  for (int i = 0; i < 3 + V; i++) {
    snprintf(name, sizeof name, "d/f%d", i);
    FILE *file = fopen(name, "w");
    fprintf(file, "%0*d\n", i + 1, V);
    fclose(file);
  }
  rename("d/f0", "d/renamed");
  symlink("renamed", "d/link");
  readlink("d/link", target, sizeof target);
  printf("%s\n", target);
  struct stat status;
  stat("d/link", &status);
  printf("%ld\n", (long)status.st_size);
  glob_t found;
  glob("d/*", 0, NULL, &found);
  for (size_t i = 0; i < found.gl_pathc; i++)
    puts(found.gl_pathv[i]);
  DIR *directory = opendir("d");
  int entries = 0;
  for (struct dirent *entry; (entry = readdir(directory));)
    entries++;
  closedir(directory);
  printf("%d\n", entries);
  for (size_t i = 0; i < found.gl_pathc; i++)
    unlink(found.gl_pathv[i]);
  printf("%d\n", rmdir("d"));
  return 0;
}
