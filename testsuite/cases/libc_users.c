// The user and group databases: result buffers and places in the enumerations.
//@ run: all
//@ run: the second version looks at less
//@ args: 2
//@ expect: output
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int limit = argc > 1 && V == 2 ? atoi(argv[1]) : 4;
  struct passwd *user, entry, *result;
  struct group *group;
  char bytes[2000];
  for (int i = 0; i < limit && (user = getpwent()); i++)
    printf("%s %d %s\n", user->pw_name, (int)user->pw_uid, user->pw_dir);
  struct passwd *root = getpwuid(0), *daemon = getpwnam("daemon");
  printf("%s %s\n", root->pw_name, daemon->pw_name);
  printf("%s\n", getpwnam("nobody in particular") ? "?" : "none");
  for (int i = 0; i < limit && getpwent_r(&entry, bytes, sizeof bytes, &result) == 0; i++)
    printf("%s\n", result->pw_name);
  setpwent();
  printf("%s\n", getpwent()->pw_name);
  int users = 0;
  while (getpwent())
    users++;
  printf("%d users, %s\n", users, getpwent() ? "?" : "end");
  endpwent();
  printf("%s\n", getpwent()->pw_name);
  for (int i = 0; i < limit && (group = getgrent()); i++)
    printf("%s %d\n", group->gr_name, (int)group->gr_gid);
  printf("%s %s\n", getgrgid(0)->gr_name, getgrnam("daemon")->gr_name);
  FILE *file = fopen("/etc/passwd", "r");
  printf("%s", fgetpwent(file)->pw_name);
  printf(" %s\n", fgetpwent(file)->pw_name);
  fclose(file);
  return 0;
}
