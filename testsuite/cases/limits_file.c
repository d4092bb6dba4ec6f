// A limit on files cuts a write short and ends the version with the next one, if its output is a file; what goes to a
// pipe has none.
//@ run: pipe
//@ expect: none
//@ run: file
//@ expect: output
//@ stdout: file
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void) {
  char line[100];
  memset(line, 'a', sizeof line);
  struct rlimit limit = {V == 1 ? 4096 : 2048, 1 << 20};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
    return 1;
  for (int i = 0; i < 100; i++) {
    ssize_t done = write(1, line, sizeof line);
    if (done != sizeof line)
      fprintf(stderr, "%d: %zd\n", i, done);
  }
  return 0;
}
