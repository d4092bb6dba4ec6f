// Closing standard streams by hand: fclose, close, fcloseall, and what goes wrong afterwards.
//@ run: fclose
//@ args: f
//@ expect: output
//@ run: close
//@ args: c
//@ run: both
//@ args: b
//@ run: fcloseall
//@ args: a
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void handler(void) { fprintf(stderr, "handler %d\n", printf("late\n")); }

int main(int argc, char **argv) {
  printf("text %c\n", argv[1][0]);
  switch (argv[1][0]) {
  case 'f':
    atexit(handler);
    fprintf(stderr, "%d\n", fclose(stdin));
    fflush(stdout);
    fprintf(stderr, "version %d\n", V);
    break;
  case 'c':
    close(1);
    fprintf(stderr, "%d %d\n", fflush(stdout), errno == EBADF);
    break;
  case 'b':
    close(1);
    fprintf(stderr, "%d\n", fclose(stdout));
    break;
  case 'a':
    fprintf(stderr, "%d\n", fcloseall());
    break;
  }
  return 0;
}
