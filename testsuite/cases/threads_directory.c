// Threads of one version share its current directory and umask, and no other version's.
//@ link: -lpthread
//@ run: a thread changes them
//@ args: t
//@ expect: output
//@ run: main changes them
//@ args: m
//@ expect: output
//@ run: a child of a thread
//@ args: c
//@ expect: output
//@ run: many
//@ args: n
//@ expect: output
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static void meet(void) { pthread_barrier_wait(&barrier); }

static const char *last(void) {
  static _Thread_local char path[PATH_MAX];
  return strrchr(getcwd(path, sizeof path), '/') + 1;
}

/* What a new file in the current directory is like. */
static void show(const char *who, const char *name) {
  struct stat file, same;
  close(open(name, O_CREAT | O_WRONLY, 0666));
  stat(name, &file);
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", getcwd(NULL, 0), name);
  printf("%s: %s %03o %d\n", who, last(), file.st_mode & 0777,
         stat(path, &same) == 0 && same.st_ino == file.st_ino);
}

static void go(const char *directory, int mask) {
  chdir(directory);
  umask(mask);
}

static void *changes(void *own) {
  go(own, 07);
  meet();
  meet();
  show("thread", "b");
  return NULL;
}

static void *looks(void *unused) {
  meet();
  show("thread", "c");
  meet();
  return NULL;
}

static void *forks(void *own) {
  meet();
  go("..", 01);
  if (fork() == 0) {
    show("child", "d");
    go(own, 02);
    show("child", "e");
    fflush(stdout);
    _exit(0);
  }
  wait(NULL);
  show("thread", "f");
  return NULL;
}

static void *wanders(void *number) {
  char name[20];
  for (int i = 0; i < 200; i++) {
    snprintf(name, sizeof name, "%ld.%d", (long)number, i);
    close(open(name, O_CREAT | O_WRONLY, 0666));
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread, more[3];
  char own[20];
  snprintf(own, sizeof own, "v%d", V);
  mkdir(own, 0777);
  pthread_barrier_init(&barrier, NULL, 2);
  switch (argv[1][0]) {
  case 't':
    pthread_create(&thread, NULL, changes, own);
    meet();
    show("main", "a");
    meet();
    pthread_join(thread, NULL);
    break;
  case 'm':
    umask(07);
    pthread_create(&thread, NULL, looks, NULL);
    go(own, V == 1 ? 077 : 0);
    meet();
    meet();
    show("main", "d");
    pthread_join(thread, NULL);
    break;
  case 'c':
    go(own, 077);
    pthread_create(&thread, NULL, forks, own);
    meet();
    pthread_join(thread, NULL);
    show("main", "g");
    break;
  case 'n':
    go(own, 0);
    for (long i = 0; i < 3; i++)
      pthread_create(&more[i], NULL, wanders, (void *)i);
    for (int i = 0; i < 200; i++) {
      char name[20];
      snprintf(name, sizeof name, "main.%d", i);
      close(open(name, O_CREAT | O_WRONLY, 0666));
    }
    for (int i = 0; i < 3; i++)
      pthread_join(more[i], NULL);
    chdir("..");
    FILE *list = popen("ls", "r");
    char line[100];
    while (fgets(line, sizeof line, list))
      if (line[0] != 'v')
        fputs(line, stdout);
    pclose(list);
    snprintf(own, sizeof own, "ls v%d | wc -l", V);
    fflush(stdout);
    system(own);
  }
  printf("version %d\n", V);
  return 0;
}
