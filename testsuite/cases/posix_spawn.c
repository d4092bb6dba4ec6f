// posix_spawn: file actions on virtual descriptors, attributes, errors; the child's output in the version's.
//@ run: pipe
//@ expect: output
//@ run: file
//@ stdout: file
//@ expect: output
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int status_of(pid_t child) {
  int status;
  return waitpid(child, &status, 0) == child ? status : -1;
}

int main(void) {
  /* Files that versions in lock-step write collide, so each has a directory of its own. */
  char own[] = "spawnXXXXXX";
  if (!mkdtemp(own) || chdir(own) != 0)
    return 9;
  pid_t child;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  char line[100];
  setvbuf(stdout, NULL, _IONBF, 0);

  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addclose(&actions, 0);
  char *both[] = {"sh", "-c", V == 2 ? "echo two; echo err >&2; exit 4" : "echo one; echo err >&2; exit 4",
                  NULL};
  printf("%d ", posix_spawnp(&child, "sh", &actions, NULL, both, environ));
  printf("%d\n", WEXITSTATUS(status_of(child)));
  FILE *file = fopen("out", "r");
  while (fgets(line, sizeof line, file))
    printf("> %s", line);
  fclose(file);
  unlink("out");
  posix_spawn_file_actions_destroy(&actions);

  int ends[2];
  pipe(ends);
  printf("%d %d\n", ends[0], ends[1]);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  posix_spawn_file_actions_addchdir_np(&actions, "/");
  sigset_t set;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  posix_spawnattr_setsigmask(&attributes, &set);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  posix_spawnattr_setsigdefault(&attributes, &set);
  signal(SIGUSR2, SIG_IGN);
  char *state[] = {"sh", "-c", "pwd; grep SigBlk /proc/self/status; kill -USR2 $$; echo survived", NULL};
  printf("%d\n", posix_spawn(&child, "/bin/sh", &actions, &attributes, state, environ));
  close(ends[1]);
  for (ssize_t size; (size = read(ends[0], line, sizeof line)) > 0;)
    fwrite(line, 1, size, stdout);
  printf("signal %d\n", WTERMSIG(status_of(child)));

  printf("%s\n", strerror(posix_spawn(&child, "/no/such/program", NULL, NULL, both, environ)));
  printf("%s\n", strerror(posix_spawnp(&child, "no-such-program", NULL, NULL, both, environ)));
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, 77, 1);
  printf("%s\n", strerror(posix_spawn(&child, "/bin/sh", &actions, NULL, both, environ)));
  printf("%d %d\n", posix_spawn_file_actions_addclose(&actions, -1) == EBADF, waitpid(-1, NULL, WNOHANG));
  char *inherit[] = {"sh", "-c", "echo inherits stdout", NULL};
  posix_spawn(&child, "/bin/sh", NULL, NULL, inherit, environ);
  printf("%d\n", status_of(child));
  return 0;
}
