// Children read the version's standard input where it is, and what they leave is the version's again.
//@ run: pipe
//@ stdin: pipe "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
//@ expect: output
//@ run: file
//@ stdin: file "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
//@ expect: output
//@ run: long
//@ stdin: pipe "one\ntwo\nthree\nfour\nfive\n" 20000*"a line of input\n"
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void line(const char *who) {
  char byte;
  printf("%s: ", who);
  while (read(0, &byte, 1) == 1 && byte != '\n')
    putchar(byte);
  putchar('\n');
  fflush(stdout);
}

int main(void) {
  line("first");
  system("read x; echo child $x");
  line("after system");
  if (fork() == 0) {
    line("forked");
    exit(0);
  }
  wait(NULL);
  FILE *file = popen(V == 2 ? "read x; echo popen 2 $x" : "read x; echo popen $x", "r");
  char text[100];
  while (fgets(text, sizeof text, file))
    fputs(text, stdout);
  pclose(file);
  fflush(stdout);
  if (fork() == 0) {
    execlp("cksum", "cksum", (char *)NULL);
    _exit(127);
  }
  wait(NULL);
  printf("end: %zd\n", read(0, text, sizeof text));
  return 0;
}
