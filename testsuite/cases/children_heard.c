// SIGCHLD: a version hears of its own children only, once each; not of processes that the runtime starts.
//@ stdin: pipe "input"
//@ expect: output
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int heard, unknown;
static volatile pid_t known;

static void on_child(int number, siginfo_t *info, void *context) {
  heard++;
  unknown += known && info->si_pid != known;
}

static void run_child(const char *command) {
  known = 0;
  heard = unknown = 0;
  int gate[2];
  pipe(gate);
  pid_t child = fork();
  if (child == 0) {
    char byte;
    close(gate[1]);
    read(gate[0], &byte, 1);
    execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(127);
  }
  printf("heard before it ended: %d\n", heard);
  known = child;
  close(gate[0]);
  close(gate[1]);
  while (waitpid(child, NULL, 0) != child)
    ;
  printf("version %d heard %d times, %d from others\n", V, heard, unknown);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGCHLD, &action, NULL);
  run_child("exit 1");
  run_child("echo written");
  run_child("read line; echo $line");
  return 0;
}
