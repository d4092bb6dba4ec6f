// Equal output is kept once: it goes on where versions differ after all, with memory that cannot be read, where
// the output is written elsewhere than at its end, by a child, and by a call that the runtime does not know.
//@ versions: 3
//@ run: to a pipe
//@ run: to a pipe, different
//@ args: d
//@ expect: output
//@ expect-check: p3: ...stdout...700...
//@ run: to a file
//@ stdout: file
//@ run: to a file, different
//@ args: d
//@ stdout: file
//@ expect: output
//@ run: appended
//@ args: d
//@ stdout: append
//@ expect: output
//@ run: child
//@ args: n c
//@ run: child, file
//@ args: d c
//@ stdout: file
//@ expect: output
//@ run: sought
//@ args: d s
//@ stdout: file
//@ expect: output
//@ run: system call
//@ args: d y
//@ expect: output
//@ run: limit
//@ args: n l
//@ stdout: file
//@ run: shorter
//@ args: e
//@ expect: output
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void lines(int from, int to) {
  for (int i = from; i < to; i++)
    printf("%09d\n", i);
}

static void special(char what) {
  fflush(stdout);
  switch (what) {
  case 'c':
    if (fork() == 0) {
      printf("child\n");
      exit(0);
    }
    wait(NULL);
    break;
  case 's':
    lseek(1, -500, SEEK_CUR);
    printf("instead\n");
    fflush(stdout);
    lseek(1, 0, SEEK_END);
    break;
  case 'y':
    syscall(SYS_pwrite64, -1, "x", 1, 0);
    printf("%d\n", errno);
    break;
  case 'l':
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, 1 << 20});
    printf("limited\n");
  }
}

int main(int argc, char **argv) {
  char first = argc > 1 ? argv[1][0] : 0;
  char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(page + 4096, 4096, PROT_NONE);
  lines(0, 40000);
  fflush(stdout);
  memset(page, 'p', 4096);
  ssize_t all = write(1, page + 4000, 96), none = write(1, page + 4096, 10);
  fprintf(stderr, "%d %d %s\n", (int)all, (int)none, strerror(errno));
  char *large = malloc(300000);
  memset(large, 'l', 300000);
  large[299999] = '\n';
  fwrite(large, 1, 300000, stdout);
  if (argc > 2)
    special(argv[2][0]);
  if (V == 2 && first == 'e')
    return 0;
  if (V == 2 && first == 'd')
    printf("different\n");
  lines(0, 40000);
  write(1, large, 300000);
  return 0;
}
