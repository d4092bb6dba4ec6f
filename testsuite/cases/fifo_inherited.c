// Pipes that a shell's <(command) makes: above the standard streams, and opened by the names of their numbers.
//@ args: /dev/fd/63 /proc/self/fd/62
//@ run: small
//@ pipe: 63 "one\ntwo\nthree\nfour\n"
//@ pipe: 62 "x\ny\nz\n"
//@ pipe: 5 "five"
//@ expect: output
//@ run: long
//@ pipe: 63 20000*"a line\n"
//@ pipe: 62 15000*"another line\n"
//@ pipe: 5 "five"
//@ stdin: pipe "standard input"
//@ expect: output
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **names) {
  (void)count;
  FILE *a = fopen(names[1], "r");
  int b = open(names[2], O_RDONLY);
  char line[100], byte;
  long lines = 0, bytes = 0;
  printf("%d %d\n", fileno(a), b);
  while (read(b, &byte, 1) == 1 && ++bytes < 5)
    if (fgets(line, sizeof line, a))
      printf("%c %s", byte, line);
  fflush(stdout);
  if (fork() == 0) {
    printf("child: %ld\n", (long)read(62, line, V == 2 ? 2 : 1));
    exit(0);
  }
  wait(NULL);
  while (fgets(line, sizeof line, a))
    lines++;
  printf("%ld lines more\n", lines);
  fclose(a);
  close(63);
  bytes = 0;
  FILE *rest = fdopen(b, "r");
  while (fgetc(rest) != EOF)
    bytes++;
  printf("%ld bytes more\n", bytes);
  fflush(stdout);
  system(V == 2 ? "read x <&5; echo \"<$x>\"" : "cat <&5; echo");
  printf("%d %zd\n", V, read(0, line, 3 + V));
  return 0;
}
