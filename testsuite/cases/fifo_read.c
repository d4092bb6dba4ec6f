// FIFOs that versions open by name: each version reads all, as much at a time as it wants.
//@ args: first second
//@ run: small
//@ fifo: first "one\ntwo\nthree\n"
//@ fifo: second "a b c"
//@ expect: output
//@ run: empty
//@ fifo: first
//@ fifo: second "\n"
//@ expect: output
//@ run: long
//@ fifo: first 20000*"a line of input\n" "end"
//@ fifo: second 9000*"0123456789"
//@ expect: output
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void by_lines(const char *path) {
  FILE *file = fopen(path, "r");
  struct stat by_name, by_number;
  char *line = NULL;
  size_t room = 0;
  long lines = 0, bytes = 0, size;
  unsigned sum = 0;
  while ((size = getline(&line, &room, file)) > 0) {
    lines++;
    bytes += size;
    for (long i = 0; i < size; i++)
      sum = sum * 31 + (unsigned char)line[i];
  }
  stat(path, &by_name);
  fstat(fileno(file), &by_number);
  printf("%s: %ld lines, %ld bytes, %u, eof %d, same %d, fifo %d\n", path, lines, bytes, sum, feof(file) != 0,
         by_name.st_ino == by_number.st_ino, S_ISFIFO(by_number.st_mode));
  printf("at the end: %d %ld\n", fgetc(file), (long)read(fileno(file), line, 1));
  free(line);
  fclose(file);
}

static void by_pieces(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  printf("fd %d, %x, %d\n", fd, fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
  char a[3], b[V == 2 ? 7 : 40];
  struct iovec parts[] = {{a, sizeof a}, {b, sizeof b}};
  long size, total = 0;
  unsigned sum = 0;
  while ((size = readv(fd, parts, 2)) > 0)
    for (total += size; size > 0; size--)
      sum += size > (long)sizeof a ? b[size - sizeof a - 1] : a[size - 1];
  printf("%s: %ld bytes, %u\n", path, total, sum);
  errno = 0;
  printf("%ld %d\n", (long)lseek(fd, 0, SEEK_CUR), errno);
  errno = 0;
  printf("%ld %d\n", (long)write(fd, "x", 1), errno);
  int left = -1;
  printf("%d", ioctl(fd, FIONREAD, &left));
  printf(" %d\n", left);
  close(fd);
}

int main(int count, char **names) {
  (void)count;
  by_lines(names[1]);
  by_pieces(names[2]);
  printf("%d\n", V);
  return 0;
}
