// FIFOs that versions write: who reads them gets what the version that is shown writes.
//@ run: both ways
//@ fifo: in "first\nsecond\nthird\n"
//@ fifo-read: out
//@ fifo-read: more
//@ expect: output
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void) {
  FILE *in = fopen("in", "r"), *out = fopen("out", "w");
  char line[100];
  while (fgets(line, sizeof line, in))
    fprintf(out, V == 2 ? "version two: %s" : "version one: %s", line);
  struct stat by_name, by_number;
  stat("out", &by_name);
  fstat(fileno(out), &by_number);
  printf("same %d, %x\n", by_name.st_ino == by_number.st_ino, fcntl(fileno(out), F_GETFL) & O_ACCMODE);
  errno = 0;
  printf("%zd %d\n", read(fileno(out), line, 1), errno);
  printf("closed: %d\n", fclose(out));
  int more = open("more", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  struct pollfd ask = {.fd = more, .events = POLLOUT};
  printf("%d %x\n", poll(&ask, 1, 5000), ask.revents);
  struct iovec parts[] = {{"ab", 2}, {"cde", V == 2 ? 3 : 2}};
  printf("%zd\n", writev(more, parts, 2));
  char *large = calloc(1, 200000);
  size_t done = 0;
  for (ssize_t size; done < 200000 && (size = write(more, large, 200000 - done)) > 0;)
    done += size;
  printf("%zu\n", done);
  printf("%d %d\n", dprintf(more, "end %d\n", V), close(more));
  return 0;
}
