// printf, puts, putchar, fwrite, fputs, dprintf, writev and write in one program, stdout and stderr.
//@ run: pipe
//@ expect: output
//@ run: file
//@ stdout: file
//@ stderr: file
//@ expect: output
//@ run: terminal
//@ stdout: tty
//@ expect: output
//@ run: appended file
//@ stdout: append
//@ expect: output
//@ run: one pipe
//@ stderr: stdout
//@ expect: output
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void) {
  printf("printf %d\n", 1);
  putchar('p');
  putc_unlocked('q', stdout);
  write(1, "write\n", 6);
  puts("puts");
  fwrite("fwrite\n", 1, 7, stdout);
  fputs("fputs on stderr\n", stderr);
  fflush(stdout);
  dprintf(1, "dprintf %s\n", "x");
  struct iovec parts[] = {{"wri", 3}, {"tev\n", 4}};
  writev(1, parts, V == 2 ? 1 : 2);
  fprintf(stderr, "%s", "");
  perror("perror");
  printf("no newline at the end");
  return 0;
}
