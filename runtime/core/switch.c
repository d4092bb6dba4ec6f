/* Which version owns the process.
 *
 * libc and the kernel keep some attributes once per process. Only the owner's are installed, and they are
 * exchanged when the owner changes, so that a version which never changes one pays nothing for it. The
 * current directory is exchanged through a descriptor and only between versions that are in different ones.
 *
 * Versions in lock-step alternate with every call that leaves them, so there are two degrees. p3_touch
 * exchanges what costs nothing while versions have not changed it: directory, umask, signals, limits. That is
 * enough for libc's functions on files. p3_enter also exchanges what always differs, real descriptors 0-2 above
 * all, for code that nothing is known about.
 *
 * Other threads than the main one work for one version each. In lock-step the kernel gives them a directory and
 * a umask of their own, which follow the version's with every call that leaves it, as the main thread's do. */
#include "core.h"
#include "p3_process.h"
#include "process.h"
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

int p3_owner = P3_NOBODY;
int p3_here = P3_NOBODY;
int p3_only = P3_NOBODY;
unsigned char p3_ended;

extern char **environ;

/* What the main thread has; cwd_id is that of the version whose directory it is. */
static struct p3_whereabouts installed;
/* There are threads that do not share it; or there are, but the system did not allow that. */
static volatile bool are_apart, cannot_part;

extern char __executable_start[] __attribute__((weak)), _end[] __attribute__((weak));

/* In a program that is loaded anywhere, no function of a library has its address among the program's own. */
static bool is_own(uintptr_t function) {
  uintptr_t start = (uintptr_t)__executable_start;
  return function - start < (uintptr_t)_end - start && ((const Elf64_Ehdr *)start)->e_type == ET_DYN;
}

/* The program's own functions, among which there is no library's; empty where that is not known, and from when dlsym
 * has found something in the program itself, where there may be code of others than the versions. Volatile, since they
 * are read more quickly than LLVM finds out again what they may be. */
static volatile uintptr_t own_start, own_size;

static void know_own(void) {
  if (p3_in_klee() || !is_own((uintptr_t)&know_own))
    return;
  own_start = (uintptr_t)__executable_start;
  own_size = (uintptr_t)_end - own_start;
}

void p3_switch_init(void) {
  mode_t mask = umask(0);
  umask(mask);
  installed.umask = mask;
  for (int i = 0; i < p3_count; i++) {
    p3_states[i].umask = mask;
    p3_states[i].cwd = -1;
  }
  know_own();
}

static int open_cwd(void) { return p3_fd_hide(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

static struct p3_whereabouts *own_place(void) {
  struct p3_thread *thread = are_apart ? p3_thread_self() : NULL;
  return thread ? &thread->place : &installed;
}

static bool is_in_place(const struct p3_whereabouts *place, const struct p3_state *state) {
  return place->cwd_id == state->cwd_id && place->umask == state->umask;
}

/* The calling thread gets the version's directory and umask. A handler must not find the one and not yet the
 * other. */
static void move(struct p3_whereabouts *place, int from, int to) {
  struct p3_state *state = &p3_states[to];
  struct p3_guard guard;
  p3_lock(&guard);
  if (place->cwd_id != state->cwd_id) {
    if (from >= 0 && p3_states[from].cwd < 0 && p3_states[from].cwd_id == place->cwd_id)
      p3_states[from].cwd = open_cwd();
    if (state->cwd >= 0)
      (void)!fchdir(state->cwd);
    place->cwd_id = state->cwd_id;
  }
  if (place->umask != state->umask)
    umask(state->umask);
  place->umask = state->umask;
  if (place == &installed)
    p3_here = to;
  p3_unlock(&guard);
}

void p3_thread_prepare(int version) {
  if (!p3_lockstep || p3_only >= 0 || cannot_part)
    return;
  p3_touch(version);
  struct p3_guard guard;
  p3_lock(&guard);
  if (p3_states[version].cwd < 0)
    p3_states[version].cwd = open_cwd();
  are_apart = true;
  p3_unlock(&guard);
}

/* Versions whose threads share a directory and a umask with all others' run one after the other, if they differ in
 * that or are about to. */
static void part(bool differ) {
  if (cannot_part && differ && p3_lockstep && p3_only < 0)
    p3_rerun(P3_RERUN_SHARED);
}

void p3_thread_place(struct p3_thread *thread) {
  struct p3_state *state = &p3_states[thread->version];
  if (are_apart && unshare(CLONE_FS) != 0) {
    are_apart = false;
    cannot_part = true;
  }
  if (!are_apart) {
    bool differ = false;
    for (int i = 0; i < p3_count; i++)
      differ |= p3_states[i].cwd_id != state->cwd_id || p3_states[i].umask != state->umask;
    part(differ);
    return;
  }
  struct p3_guard guard;
  p3_lock(&guard);
  (void)!fchdir(state->cwd);
  umask(state->umask);
  thread->place = (struct p3_whereabouts){state->cwd_id, state->umask};
  p3_unlock(&guard);
}

/* After `version` changed its directory, which descriptor `before` stands for. Versions that are still in
 * that one get descriptors of their own, since they could not find back otherwise. */
static void moved(int version, int before) {
  static unsigned last;
  struct p3_state *me = &p3_states[version];
  struct p3_guard guard;
  p3_lock(&guard);
  for (int i = 0; i < p3_count; i++)
    if (i != version && p3_states[i].cwd_id == me->cwd_id && p3_states[i].cwd < 0 &&
        (p3_only < 0 || p3_only == i))
      p3_states[i].cwd = fcntl(before, F_DUPFD_CLOEXEC, before);
  if (me->cwd >= 0)
    close(me->cwd);
  me->cwd = are_apart ? open_cwd() : -1;
  me->cwd_id = ++last;
  own_place()->cwd_id = me->cwd_id;
  p3_unlock(&guard);
}

int p3_directory_before(int version) {
  part(true);
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
  part((mask & 0777) != p3_states[version].umask);
  p3_touch(version);
  struct p3_guard guard;
  p3_lock(&guard);
  p3_states[version].umask = own_place()->umask = mask & 0777;
  mode_t before = umask(mask);
  p3_unlock(&guard);
  return before;
}

void p3_environ_changed(int version) {
  if (p3_owner == version && p3_states[version].environ_slot)
    environ = *p3_states[version].environ_slot;
}

void p3_touch(int version) {
  int from = p3_here;
  if (from == version && !are_apart && !p3_sign_missing)
    return;
  if (p3_in_klee()) {
    p3_here = version;
    return;
  }
  p3_signed(version);
  if (from == version && !are_apart)
    return;
  struct p3_thread *thread = p3_thread_self();
  struct p3_whereabouts *place = thread && are_apart ? &thread->place : &installed;
  if (thread || from == version) {
    if ((!thread || are_apart) && !is_in_place(place, &p3_states[version]))
      move(place, version, version);
    return;
  }
  p3_process_leave(from);
  if (is_in_place(place, &p3_states[version]))
    p3_here = version;
  else
    move(place, from, version);
  p3_process_enter(from, version);
}

void p3_take_turn(int version) { p3_turn(version); }

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

void p3_symbol_found(const void *symbol) {
  if (own_size && is_own((uintptr_t)symbol))
    own_size = 0;
}

void p3_enter_for(int version, const void *function) {
  if (!own_size || (uintptr_t)function - own_start >= own_size)
    p3_enter(version);
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
  installed = *own_place();
  are_apart = false;
  mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  p3_captures_unlock();
  p3_input_forked();
  for (int i = 0; i < p3_count; i++)
    if (i != version) {
      p3_fds_close_all(i);
      p3_states[i].end = P3_EXITED;
      p3_versions[i]->die(P3_EXITED, 0);
    }
  p3_fifo_review();
}
