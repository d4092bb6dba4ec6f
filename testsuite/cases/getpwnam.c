// Static results of the user and group databases, and iteration over them.
//@ expect: output
#include <grp.h>
#include <pwd.h>
#include <stdio.h>

int main(void) {
  struct passwd *root = getpwnam("root"), *daemon = getpwuid(1);
  printf("%d %s %s %d\n", root == daemon, daemon->pw_name, daemon->pw_dir, (int)daemon->pw_uid);
  printf("%d\n", getpwnam("nobody at all") == NULL);
  struct group *group = getgrgid(0);
  printf("%s %d\n", group->gr_name, (int)getgrnam("daemon")->gr_gid);
  setpwent();
  for (int i = 0; i < 3 + (V == 2); i++)
    printf("%s ", getpwent()->pw_name);
  endpwent();
  printf("%s\n", getpwent()->pw_name);
  setgrent();
  printf("%s", getgrent()->gr_name);
  printf(" %s\n", getgrent()->gr_name);
  return 0;
}
