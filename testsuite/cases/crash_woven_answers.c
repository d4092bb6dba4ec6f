// What a version was told before a crash in lock-step, and may have printed, it is told again: process numbers,
// the time, random bytes. The time does not go back.
//@ levels: -O1
//@ expect: both
//@ run: 1 crashes
//@ args: 1
//@ run: 2 crashes
//@ args: 2
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int *volatile nowhere;

struct told {
  pid_t process, parent, child;
  time_t time;
  struct timespec real, monotonic;
  struct timeval day;
  clock_t used;
  char random[20];
};

static struct timespec last;

static void later(const char *place) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (now.tv_sec < last.tv_sec || (now.tv_sec == last.tv_sec && now.tv_nsec < last.tv_nsec))
    printf("time goes back: %s\n", place);
  last = now;
}

int main(int argc, char **argv) {
  struct told told, before;
  memset(&told, 0, sizeof told);
  told.process = getpid();
  told.parent = getppid();
  told.child = fork();
  if (told.child == 0)
    _exit(3);
  waitpid(told.child, NULL, 0);
  told.time = time(NULL);
  clock_gettime(CLOCK_REALTIME, &told.real);
  clock_gettime(CLOCK_MONOTONIC, &told.monotonic);
  gettimeofday(&told.day, NULL);
  told.used = clock();
  getrandom(told.random, sizeof told.random, 0);
  /* The file is there in a second run. */
  int file = open(V == 1 ? "told.1" : "told.2", O_RDWR | O_CREAT, 0600);
  ssize_t size = read(file, &before, sizeof before);
  if (size == 0)
    size = pwrite(file, &told, sizeof told, 0);
  else if (memcmp(&told, &before, sizeof told) != 0)
    size = -1;
  printf("told %zd\n", size);
  fflush(stdout);
  for (int i = 0; i < 1000; i++)
    later("before");
  usleep(100000);
  later("sleep");
  if (atoi(argv[1]) == V)
    *nowhere = 1;
  for (int i = 0; i < 1000; i++)
    later("after");
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%d\n", now.tv_sec - told.monotonic.tv_sec < 5);
  printf("%d %d\n", getpid() == told.process, clock() >= told.used);
  return argc;
}
