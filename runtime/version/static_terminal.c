/* Names of terminals, users and temporary files in libc's static buffers, per version; getpass. */
#include "p3v_libc.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

int SHIM(fflush)(FILE *file);
int __ttyname_r_chk(int, char *, size_t, size_t);
int __ptsname_r_chk(int, char *, size_t, size_t);

char *SHIM(ctermid)(char *name) {
  static char hidden[L_ctermid];
  return strcpy(name ? name : hidden, "/dev/tty");
}

int SHIM(ttyname_r)(int fd, char *name, size_t size) {
  return ttyname_r(p3_fd_meta(p3v_index, fd), name, size);
}

char *SHIM(ttyname)(int fd) {
  static char name[PATH_MAX];
  return SHIM(ttyname_r)(fd, name, sizeof name) == 0 ? name : NULL;
}

int SHIM(ptsname_r)(int fd, char *name, size_t size) {
  return ptsname_r(p3_fd_meta(p3v_index, fd), name, size);
}

char *SHIM(ptsname)(int fd) {
  static char name[30];
  return SHIM(ptsname_r)(fd, name, sizeof name) == 0 ? name : NULL;
}

/* What glibc's headers call for a checked buffer. */
int SHIM(__ttyname_r_chk)(int fd, char *name, size_t size, size_t room) {
  return __ttyname_r_chk(p3_fd_meta(p3v_index, fd), name, size, room);
}

int SHIM(__ptsname_r_chk)(int fd, char *name, size_t size, size_t room) {
  return __ptsname_r_chk(p3_fd_meta(p3v_index, fd), name, size, room);
}

char *SHIM(getlogin)(void) {
  static char name[LOGIN_NAME_MAX];
  p3v_own();
  return getlogin_r(name, sizeof name) == 0 ? name : NULL;
}

char *SHIM(cuserid)(char *name) {
  static char hidden[L_cuserid];
  char bytes[1024];
  struct passwd entry, *found = NULL;
  getpwuid_r(geteuid(), &entry, bytes, sizeof bytes, &found);
  if (!name && !found)
    return NULL;
  if (!name)
    name = hidden;
  memset(name, 0, L_cuserid);
  if (found)
    strncpy(name, found->pw_name, L_cuserid - 1);
  return name;
}

char *SHIM(tmpnam)(char *name) {
  static char hidden[L_tmpnam];
  return tmpnam_r(name ? name : hidden);
}

char *SHIM(tempnam)(const char *directory, const char *prefix) {
  p3v_attend_environ();
  return tempnam(directory, prefix);
}

/* Reads a line without echo from the terminal, or from stdin with the prompt on stderr without one. */
char *SHIM(getpass)(const char *prompt) {
  static char *line;
  static size_t size;
  FILE *terminal = NULL;
  int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (tty >= 0 && !(terminal = fdopen(tty, "w+")))
    close(tty);
  FILE *in = terminal ? terminal : SHIM(stdin);
  FILE *out = terminal ? terminal : SHIM(stderr);

  int fd = terminal ? tty : p3_fd_meta(p3v_index, SHIM(fileno)(in));
  struct termios before, silent;
  bool quiet = tcgetattr(fd, &before) == 0;
  if (quiet) {
    silent = before;
    silent.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
    quiet = tcsetattr(fd, TCSAFLUSH, &silent) == 0;
  }
  p3v_say(out, "%s", prompt);
  SHIM(fflush)(out);
  ssize_t length = getline(&line, &size, in);
  if (length < 0 && line)
    line[0] = '\0';
  else if (length > 0 && line[length - 1] == '\n') {
    line[length - 1] = '\0';
    if (quiet) {
      if (terminal)
        fseek(terminal, 0, SEEK_CUR);
      p3v_say(out, "\n");
    }
  }
  if (quiet)
    tcsetattr(fd, TCSAFLUSH, &before);
  if (terminal)
    fclose(terminal);
  return line;
}
