// A version that limits its memory gets as much as it would alone and then none; the other gets all that it wants.
//@ expect: both
//@ run: space
//@ run: data
//@ args: data
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MIB ((size_t)1 << 20)

static void *volatile got; /* else compilers know better whether malloc succeeds */

static int ask(const char *what, void *memory) {
  got = memory;
  printf("%s: %s\n", what, got && got != MAP_FAILED ? "some" : errno == ENOMEM ? "none" : strerror(errno));
  return got != NULL;
}

static void limit(int resource, rlim_t size) {
  struct rlimit limit;
  getrlimit(resource, &limit);
  printf("unlimited: %d\n", limit.rlim_cur == RLIM_INFINITY);
  limit.rlim_cur = size;
  printf("limited: %d\n", setrlimit(resource, &limit));
  getrlimit(resource, &limit);
  printf("now: %lld\n", (long long)limit.rlim_cur);
}

int main(int argc, char **argv) {
  int resource = argc > 1 ? RLIMIT_DATA : RLIMIT_AS;
  printf("start of %s\n", argv[argc - 1]);
  fprintf(stderr, "begin\n");
  char *early = malloc(200 * MIB);
  memset(early, 1, 4096);
  if (V == 1)
    free(early);
  if (V == 2)
    limit(resource, 300 * MIB);
  ask("200 MiB", malloc(200 * MIB));
  char *small = malloc(MIB);
  if (ask("1 MiB", small))
    memset(small, 1, MIB);
  ask("map", mmap(NULL, 400 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ask("calloc", calloc(1, 310 * MIB));
  ask("realloc", realloc(small, 310 * MIB));
  if (V == 2) {
    int count = 0;
    while ((got = malloc(MIB)))
      count++;
    printf("about 95: %d\n", count > 80 && count < 100);
    while ((got = malloc(1000)))
      ;
    while ((got = malloc(1)))
      ;
    printf("out of memory\n");
    perror("malloc");
    FILE *file = fopen("/dev/null", "r");
    printf("%s\n", file ? "opened" : strerror(errno));
    printf("%*d\n", 3000, 1);
  }
  return V - 1;
}
