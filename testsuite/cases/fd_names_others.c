// Standard streams opened by names that only the kernel sees through, and opened anew as files.
//@ run: pipes
//@ stdin: pipe "one\ntwo\n"
//@ expect: output
//@ run: files
//@ stdin: file "one\ntwo\n"
//@ stdout: file
//@ expect: output
//@ run: terminal
//@ stdin: tty "one\ntwo\n\x04"
//@ stdout: tty
//@ expect: output
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void say(int fd, const char *how) {
  dprintf(fd, "%s: %d of version %d\n", how, fd, V);
  close(fd);
}

int main(void) {
  if (write(1, "gone from a file\n", 17) != 17)
    return 1;
  FILE *file = fopen("/dev/stdout", "w");
  fprintf(file, "first of version %d\n", V);
  fclose(file);
  if (lseek(1, 0, SEEK_END) >= 0)
    return 0; /* opened again without O_TRUNC a file would be overwritten */
  int directory = open("/dev", O_RDONLY | O_DIRECTORY);
  say(openat(directory, "stdout", O_WRONLY), "in a directory");
  close(directory);
  say(open("/dev/../dev/./stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600), "roundabout");
  if (chdir("/proc/self/fd") == 0)
    say(open("1", O_WRONLY), "as a number");
  say(creat("/dev/fd/1", 0600), "creat");
  char line[4];
  int input = open("/proc/self/../self/fd/0", O_RDONLY);
  for (int i = 0; i < 2; i++)
    printf("%zd %.3s\n", read(i ? 0 : input, line, 4), line);
  char name[64];
  if (isatty(1) && ttyname_r(1, name, sizeof name) == 0)
    say(open(name, O_WRONLY | O_NOCTTY), "terminal");
  return 0;
}
