// Children read on from a FIFO that the version has opened, and what they leave is the version's again.
//@ run: fifo
//@ fifo: f "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
//@ expect: output
//@ run: long
//@ fifo: f "one\ntwo\nthree\nfour\nfive\n" 20000*"a line of input\n"
//@ expect: output
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void line(const char *who, int fd) {
  char byte;
  printf("%s: ", who);
  while (read(fd, &byte, 1) == 1 && byte != '\n')
    putchar(byte);
  putchar('\n');
  fflush(stdout);
}

int main(void) {
  int fd = open("f", O_RDONLY);
  line("first", fd);
  int high = fcntl(fd, F_DUPFD, 8);
  char command[100];
  snprintf(command, sizeof command, "read x <&%d; echo child $x", V == 2 ? high : fd);
  system(command);
  line("after system", high);
  if (fork() == 0) {
    line("forked", fd);
    exit(0);
  }
  wait(NULL);
  dup2(fd, 0);
  close(high);
  close(fd);
  FILE *file = popen(V == 2 ? "read x; echo popen 2 $x" : "read x; echo popen $x", "r");
  char text[100];
  while (fgets(text, sizeof text, file))
    fputs(text, stdout);
  pclose(file);
  fflush(stdout);
  if (fgets(text, V == 2 ? 3 : 5, stdin))
    printf("stdin: %s|\n", text);
  printf("%d\n", fgetc(stdin));
  fflush(stdout);
  if (fork() == 0) {
    execlp("cksum", "cksum", (char *)NULL);
    _exit(127);
  }
  wait(NULL);
  return 0;
}
