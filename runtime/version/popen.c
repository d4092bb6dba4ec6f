/* popen and pclose. Closing such a stream waits for its child, also when fclose does it, as in glibc. */
#include "p3v_process.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stream {
  struct stream *next;
  FILE *file;
  int fd;
  pid_t child;
};
static struct stream *streams;

static void close_older(void) {
  for (struct stream *stream = streams; stream; stream = stream->next)
    p3_fd_close(p3v_index, stream->fd);
}

static _Noreturn void become_shell(const char *command, int end, int standard) {
  close_older();
  if (end == standard)
    p3_fd_set_cloexec(p3v_index, end, false);
  else
    p3_fd_dup2(p3v_index, end, standard, false);
  char *arguments[] = {"sh", "-c", (char *)command, NULL};
  p3v_become("/bin/sh", arguments, p3v_environ(), false);
  _exit(127);
}

FILE *SHIM(popen)(const char *command, const char *mode) {
  if (p3_in_klee())
    return popen(command, mode);
  bool reads = false, writes = false, cloexec = false;
  for (const char *letter = mode; *letter; letter++) {
    reads |= *letter == 'r';
    writes |= *letter == 'w';
    cloexec |= *letter == 'e';
    if (!strchr("rwe", *letter))
      reads = writes = true;
  }
  if (reads == writes) {
    errno = EINVAL;
    return NULL;
  }
  struct stream *stream = malloc(sizeof *stream);
  int ends[2], mine = -1, childs = -1;
  if (!stream)
    return NULL;
  if (pipe2(ends, O_CLOEXEC) == 0) {
    int first = p3_fd_install(p3v_index, ends[0], 0), second = p3_fd_install(p3v_index, ends[1], 0);
    mine = reads ? first : second;
    childs = reads ? second : first;
  }
  FILE *file = mine < 0 || childs < 0 ? NULL : SHIM(fdopen)(mine, reads ? "r" : "w");
  pid_t child = file ? p3v_fork_plainly() : -1;
  if (child == 0)
    become_shell(command, childs, reads ? 1 : 0);
  int error = errno;
  if (childs >= 0)
    p3_fd_close(p3v_index, childs);
  if (child < 0) {
    if (file)
      SHIM(fclose)(file);
    else if (mine >= 0)
      p3_fd_close(p3v_index, mine);
    free(stream);
    errno = error;
    return NULL;
  }
  if (!cloexec)
    p3_fd_set_cloexec(p3v_index, mine, false);
  *stream = (struct stream){streams, file, mine, child};
  streams = stream;
  errno = error;
  return file;
}

int p3v_popen_closed(FILE *file, int result) {
  for (struct stream **link = &streams; *link; link = &(*link)->next) {
    struct stream *stream = *link;
    if (stream->file != file)
      continue;
    *link = stream->next;
    int status = -1;
    pid_t ended;
    while ((ended = SHIM(waitpid)(stream->child, &status, 0)) < 0 && errno == EINTR)
      ;
    free(stream);
    return ended < 0 ? -1 : status;
  }
  return result;
}

int SHIM(pclose)(FILE *file) { return p3_in_klee() ? pclose(file) : SHIM(fclose)(file); }
