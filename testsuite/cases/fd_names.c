// Paths that name descriptors: /dev/stdin, /dev/stdout, /dev/fd/N, /proc/self/fd/N; stat and fdopen of them.
//@ run: pipes
//@ stdin: pipe "one\ntwo\n"
//@ expect: output
//@ run: files
//@ stdin: file "one\ntwo\n"
//@ expect: output
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
  struct stat by_name, by_number;
  printf("%d %d\n", stat("/dev/stdin", &by_name), fstat(0, &by_number));
  printf("%d\n", by_name.st_ino == by_number.st_ino && by_name.st_dev == by_number.st_dev);
  fflush(stdout);
  int out = open("/dev/fd/1", O_WRONLY | O_APPEND);
  dprintf(out, "fd %d of version %d\n", out, V);
  FILE *err = fopen("/proc/self/fd/2", "a");
  fprintf(err, "file %d\n", fileno(err));
  fclose(err);
  close(out);
  int first = dup(0);
  char line[8] = "";
  printf("%zd", read(first, line, 4));
  printf(" %s", line);
  FILE *rest = fdopen(first, "r");
  printf("%s", fgets(line, sizeof line, rest));
  printf("%d %d\n", fclose(rest), fileno(stdout));
  return strcmp(line, "two\n");
}
