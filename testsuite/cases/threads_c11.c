// C11 threads, pthread_atfork, a thread that forks and one that calls exec.
//@ cflags: -pthread
//@ link: -pthread
//@ run: c11
//@ args: c
//@ expect: output
//@ run: fork
//@ args: f
//@ expect: output
//@ run: exec
//@ args: x
//@ expect: status
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static void destroyed(void *value) { printf("destroyed %s\n", (char *)value); }

static void first(void) {
  puts("once");
  tss_create(&key, destroyed);
}

static int work(void *argument) {
  call_once(&once, first);
  tss_set(key, "value");
  if (!argument)
    thrd_exit(8);
  return *(int *)argument * 2;
}

static void before(void) { write(1, "before\n", 7); }
static void in_child(void) { write(1, "in child\n", 9); }

static void *forks(void *argument) {
  pid_t child = fork();
  if (child == 0) {
    printf("child of a thread\n");
    exit(3);
  }
  int status;
  waitpid(child, &status, 0);
  printf("%d\n", WEXITSTATUS(status) + V);
  return NULL;
}

static void *becomes(void *argument) {
  char *const arguments[] = {"sh", "-c", V == 2 ? "echo next; exit 6" : "echo next; exit 5", NULL};
  execvp("sh", arguments);
  return NULL;
}

int main(int argc, char **argv) {
  thrd_t thread;
  pthread_t posix;
  int result, number = 20 + V;
  switch (argv[1][0]) {
  case 'c':
    thrd_create(&thread, work, &number);
    thrd_join(thread, &result);
    printf("%d\n", result);
    thrd_create(&thread, work, NULL);
    thrd_join(thread, &result);
    printf("%d\n", result);
    return 0;
  case 'f':
    pthread_atfork(before, NULL, in_child);
    pthread_create(&posix, NULL, forks, NULL);
    pthread_join(posix, NULL);
    return 0;
  }
  printf("lost");
  pthread_create(&posix, NULL, becomes, NULL);
  for (;;)
    pause();
}
