// Versions read different amounts of a FIFO, close it early or do not open it at all, and open it again.
//@ versions: 2 3
//@ run: written
//@ fifo: f 10000*"one line\n"
//@ expect: output
//@ run: held
//@ fifo-held: f 1000*"one line\n"
//@ args: again
//@ expect: output
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void some(int size) {
  char bytes[100];
  int fd = open("f", O_RDONLY);
  size = read(fd, bytes, size);
  printf("%.*s|\n", size, bytes);
  close(fd);
}

int main(int count, char **arguments) {
  (void)arguments;
#if V == 3
  puts("not opened");
  return 0;
#endif
  some(V == 2 ? 30 : 12);
  if (count > 1) {
    some(5);
    some(6);
  }
  return 0;
}
