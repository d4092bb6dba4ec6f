// Threads of one version fork and wait at the same time, main does, too: each gets the ends of its own version's
// children, whoever has seen them first.
//@ link: -lpthread
//@ expect: output
//@ run: any child
//@ args: a
//@ expect: output
//@ run: one child each
//@ args: p
//@ expect: output
//@ run: a group each
//@ args: g
//@ expect: output
//@ run: one version forks while the other one waits
//@ args: o
//@ expect: output
//@ run: looking again and again
//@ args: l
//@ expect: output
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3
#define ROUNDS 20

static char way;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int sum, count;

static void add(int status) {
  pthread_mutex_lock(&mutex);
  sum += WIFEXITED(status) ? WEXITSTATUS(status) : 10000;
  count++;
  pthread_mutex_unlock(&mutex);
}

static pid_t begin(int status) {
  pid_t child = fork();
  if (child == 0) {
    if (way == 'g')
      setpgid(0, 0);
    usleep(status % 3 * 400);
    _exit(status);
  }
  if (way == 'g')
    setpgid(child, child);
  return child;
}

static void *waits(void *number) {
  for (int round = 0; round < ROUNDS; round++) {
    pid_t child = begin((int)(long)number * ROUNDS + round + V), got;
    int status = -1;
    switch (way) {
    case 'a':
      got = wait(&status);
      break;
    case 'p':
      got = waitpid(child, &status, 0);
      break;
    case 'g':
      got = waitpid(-child, &status, 0);
      break;
    default:
      while ((got = waitpid(-1, &status, WNOHANG)) == 0)
        usleep(100);
    }
    if (got < 0)
      printf("wait: %m\n");
    if (strchr("pg", way) && got != child)
      puts("another one's child");
    add(status);
  }
  return NULL;
}

/* The second version's child begins and ends while the first one waits for the only child that there was. */
static void *waits_once(void *unused) {
  usleep(V == 2 ? 30000 : 0);
  pid_t child = fork();
  if (child == 0) {
    usleep(V == 1 ? 100000 : 1000);
    _exit(V);
  }
  int status;
  pid_t got = wait(&status);
  printf("%d %d\n", got == child, WEXITSTATUS(status));
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  way = argc > 1 ? argv[1][0] : 'a';
  if (way == 'o') {
    pthread_create(&threads[0], NULL, waits_once, NULL);
    pthread_join(threads[0], NULL);
    return 0;
  }
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, waits, (void *)(i + 1));
  waits(NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  int status, result = wait(&status);
  printf("%d children, sum %d, then %d %m\n", count, sum, result);
  return 0;
}
