// Mounts and shells: result buffers and places.
#include <fstab.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  char name[] = "mounts1";
  name[6] = (char)('0' + V);
  FILE *file = fopen(name, "w");
  fprintf(file, "# comment\n/dev/a /a ext4 rw,noatime 1 2\n/dev/b /b\\040c nfs ro\n");
  fclose(file);
  file = setmntent(name, "r");
  struct mntent *mount = getmntent(file);
  printf("%s %s %s %d\n", mount->mnt_fsname, mount->mnt_dir, mount->mnt_type, mount->mnt_passno);
  struct mntent *second = getmntent(file);
  printf("%d %s|%d\n", mount == second, second->mnt_dir, second->mnt_freq);
  printf("%s %d\n", hasmntopt(second, "ro"), getmntent(file) == NULL);
  printf("%d\n", endmntent(file));
  unlink(name);
  for (char *shell; (shell = getusershell());)
    printf("%s\n", shell);
  setusershell();
  printf("%s\n", getusershell());
  endusershell();
  printf("%s\n", getusershell());
  int lines = 0;
  while (getfsent())
    lines++;
  printf("%d\n", lines);
  return 0;
}
