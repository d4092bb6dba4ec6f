//@ expect: output
//@ run: pipes
//@ stdin: pipe "some text that is spliced\n"
//@ run: from_file
//@ stdin: file "some text that is spliced\n"
//@ run: files
//@ stdin: file "some text that is spliced\n"
//@ stdout: file
//@ run: appended
//@ stdin: pipe "some text that is spliced\n"
//@ stdout: append
// splice and copy_file_range from the standard input to the standard output.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void say(const char *call, ssize_t result) {
  int error = errno;
  fprintf(stderr, "%s %zd %d\n", call, result, result < 0 ? error : 0);
}

int main(void) {
  off64_t offset = 2;
  say("splice", splice(0, NULL, 1, NULL, 4 + V, 0));
  say("splice at 2", splice(0, &offset, 1, NULL, 4, 0));
  say("copy_file_range", copy_file_range(0, NULL, 1, NULL, 5, 0));
  say("closed", splice(0, NULL, 17, NULL, 4, 0));
  if (!(fcntl(1, F_GETFL) & O_APPEND))
    say("position", lseek(1, 0, SEEK_CUR));
  char rest[64];
  say("rest", read(0, rest, sizeof rest));
  printf("version %d\n", V);
  return 0;
}
