// A terminal: isatty, line buffering, a prompt before each read, end of input in the middle.
//@ stdin: tty "anna\nbert\n\x04" "more\n\x04"
//@ run: to a terminal
//@ stdout: tty
//@ expect: output
//@ run: to a pipe
//@ expect: output
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
  char name[32];
  struct stat status;
  fstat(1, &status);
  printf("%d %d %d\n", isatty(0), isatty(1), S_ISCHR(status.st_mode));
  printf("name? ");
  while (fgets(name, sizeof name, stdin))
    printf("%s, %s%s? ", V == 2 ? "hi" : "hello", name, "next");
  printf("eof %d\n", feof(stdin) != 0);
  clearerr(stdin);
  printf("%s", fgets(name, sizeof name, stdin) ? name : "nothing\n");
  return 0;
}
