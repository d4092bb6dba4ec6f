// The file of logins: its name and the place in it.
//@ run: same
//@ run: the second version begins elsewhere
//@ args: x
//@ expect: output
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <utmp.h>

static void show(struct utmp *entry) {
  if (entry)
    printf("%d %.4s %s %s\n", entry->ut_type, entry->ut_id, entry->ut_line, entry->ut_user);
  else
    printf("none\n");
}

int main(int argc, char **argv) {
  char name[] = "logins1";
  struct utmp entry;
  name[6] = (char)('0' + V);
  fclose(fopen(name, "w"));
  utmpname(name);
  for (int i = 0; i < 5; i++) {
    memset(&entry, 0, sizeof entry);
    entry.ut_type = i == 0 ? BOOT_TIME : USER_PROCESS;
    sprintf(entry.ut_id, "i%d", i);
    sprintf(entry.ut_line, "tty%d", i);
    sprintf(entry.ut_user, "user%d", i);
    printf("%d\n", pututline(&entry) == &entry);
  }
  setutent();
  if (argc > 1 && V == 2)
    getutent();
  show(getutent());
  show(getutid(&entry));
  show(getutid(&entry));
  setutent();
  show(getutline(&entry));
  endutent();
  show(getutent());
  unlink(name);
  return 0;
}
