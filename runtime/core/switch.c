/* Which version owns the process.
 *
 * libc and the kernel keep some attributes once per process. Only the owner's are installed, and they are
 * exchanged when the owner changes, so that a version which never changes one pays nothing for it. The
 * current directory is exchanged through a descriptor and only between versions that are in different ones.
 *
 * Versions in lock-step alternate with every call that leaves them, so there are two degrees. p3_touch
 * exchanges what costs nothing while versions have not changed it: directory, umask, signals, limits. That is
 * enough for libc's functions on files. p3_enter also exchanges what always differs, real descriptors 0-2 above
 * all, for code that nothing is known about. */
#include "core.h"
#include "p3_process.h"
#include "process.h"
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

int p3_owner = P3_NOBODY;
int p3_here = P3_NOBODY;
int p3_only = P3_NOBODY;

extern char **environ;

void p3_switch_init(void) {
  mode_t mask = umask(0);
  umask(mask);
  for (int i = 0; i < p3_count; i++) {
    p3_states[i].umask = mask;
    p3_states[i].cwd = -1;
  }
}

static int open_cwd(void) { return p3_fd_hide(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

static void switch_cwd(struct p3_state *from, struct p3_state *to) {
  if (from->cwd_id == to->cwd_id)
    return;
  if (from->cwd < 0)
    from->cwd = open_cwd();
  if (to->cwd >= 0)
    (void)!fchdir(to->cwd);
}

/* After `version` changed its directory, which descriptor `before` stands for. Versions that are still in
 * that one get descriptors of their own, since they could not find back otherwise. */
static void moved(int version, int before) {
  static unsigned last;
  struct p3_state *me = &p3_states[version];
  for (int i = 0; i < p3_count; i++)
    if (i != version && p3_states[i].cwd_id == me->cwd_id && p3_states[i].cwd < 0 &&
        (p3_only < 0 || p3_only == i))
      p3_states[i].cwd = fcntl(before, F_DUPFD_CLOEXEC, before);
  if (me->cwd >= 0)
    close(me->cwd);
  me->cwd = -1;
  me->cwd_id = ++last;
}

int p3_directory_before(int version) {
  p3_touch(version);
  return p3_in_klee() || p3_only >= 0 ? -1 : open_cwd();
}

void p3_directory_after(int version, int before) {
  struct stat then, now;
  if (before < 0)
    return;
  if (fstat(before, &then) == 0 && stat(".", &now) == 0 &&
      (then.st_dev != now.st_dev || then.st_ino != now.st_ino)) {
    p3_rerun_directory(before);
    moved(version, before);
  }
  close(before);
}

int p3_chdir(int version, const char *path, int fd) {
  int before = p3_directory_before(version);
  int result = path ? chdir(path) : fchdir(fd);
  int error = errno;
  p3_directory_after(version, before);
  errno = error;
  return result;
}

mode_t p3_umask(int version, mode_t mask) {
  p3_touch(version);
  p3_states[version].umask = mask & 0777;
  return umask(mask);
}

void p3_environ_changed(int version) {
  if (p3_owner == version && p3_states[version].environ_slot)
    environ = *p3_states[version].environ_slot;
}

void p3_touch(int version) {
  int from = p3_here;
  if (from == version)
    return;
  if (p3_in_klee()) {
    p3_here = version;
    return;
  }
  /* Versions with threads do not differ in what is exchanged here, or they are not woven. */
  if (p3_thread_self())
    return;
  p3_process_leave(from);
  /* A handler must not find the one's directory and the other one's umask. */
  struct p3_state *old = from < 0 ? NULL : &p3_states[from], *new = &p3_states[version];
  bool is_alike = old && old->cwd_id == new->cwd_id && old->umask == new->umask;
  sigset_t all, before;
  sigfillset(&all);
  if (!is_alike)
    pthread_sigmask(SIG_SETMASK, &all, &before);
  p3_here = version;
  if (old)
    switch_cwd(old, new);
  if (!old || old->umask != new->umask)
    umask(new->umask);
  if (!is_alike)
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  p3_process_enter(from, version);
}

void p3_enter(int version) {
  p3_touch(version);
  if (p3_owner == version) {
    p3_environ_changed(version);
    return;
  }
  int from = p3_owner;
  if (!p3_in_klee())
    p3_stop_here();
  p3_owner = version;
  if (!p3_in_klee()) {
    p3_fds_mirror(version);
    p3_float_switch(from, version);
  }
  p3_environ_changed(version);
  if (p3_versions[version]->enter)
    p3_versions[version]->enter();
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void p3_lock(struct p3_guard *guard) {
  if (p3_in_klee() || p3_in_process)
    return;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &guard->saved);
  pthread_mutex_lock(&mutex);
}

void p3_unlock(struct p3_guard *guard) {
  if (p3_in_klee() || p3_in_process)
    return;
  pthread_mutex_unlock(&mutex);
  pthread_sigmask(SIG_SETMASK, &guard->saved, NULL);
}

void p3_forked(int version) {
  p3_only = version;
  mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  p3_captures_unlock();
  p3_input_forked();
  for (int i = 0; i < p3_count; i++)
    if (i != version) {
      p3_fds_close_all(i);
      p3_states[i].end = P3_EXITED;
      p3_versions[i]->die(P3_EXITED, 0);
    }
}
