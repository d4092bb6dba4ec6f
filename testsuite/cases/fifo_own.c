// A version talks to its own children, and to a thread of its own, through FIFOs that it has made.
//@ link: -lpthread
//@ expect: output
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char name[] = "fifo-XXXXXX/f";

static void say(const char *text) {
  int fd = open(name, O_WRONLY);
  if (write(fd, text, strlen(text)) < 0)
    perror("write");
  close(fd);
}

static void *speak(void *text) {
  say(text);
  return NULL;
}

static void hear(const char *whom) {
  char text[100];
  int fd = open(name, O_RDONLY), size = 0, more;
  while ((more = read(fd, text + size, sizeof text - size)) > 0)
    size += more;
  close(fd);
  printf("%s: %.*s\n", whom, size, text);
  fflush(stdout);
}

int main(void) {
  name[11] = 0;
  if (!mkdtemp(name))
    return 1;
  name[11] = '/';
  if (mkfifo(name, 0600) != 0)
    return 1;
  if (fork() == 0) {
    say(V == 2 ? "from the child of version 2" : "from the child of version 1");
    _exit(0);
  }
  hear("child");
  wait(NULL);
  if (fork() == 0) {
    hear("parent");
    _exit(0);
  }
  say(V == 2 ? "from version 2" : "from version 1");
  wait(NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, speak, V == 2 ? "from a thread of version 2" : "from a thread of version 1");
  hear("thread");
  pthread_join(thread, NULL);
  char command[100];
  snprintf(command, sizeof command, "echo from the shell of version %d >%s &", V, name);
  system(command);
  hear("shell");
  unlink(name);
  return 0;
}
