/* Signals for a version in lock-step that cannot have them where it stands: the version that owns the process
 * waits in the kernel, or has blocked them, and the other one is about to do the same. Alone it would get
 * them while it waits, so they are kept until it owns the process and waits itself (signals.c).
 *
 * Then they go on the kernel's queue again, with what was known about them, so that masks and waiting mean
 * what they always mean. */
#include "process.h"
#include <sys/syscall.h>
#include <unistd.h>

#define ROOM 1024

static struct pending {
  enum { KEPT, SENT } state;
  int version;
  siginfo_t info;
} list[ROOM]; /* in the order of arrival */
static int length;

volatile int p3_pending_count[P3_MAX_VERSIONS];

static bool is_real_time(int signal) { return signal >= 32; }

static void take_out(int at) {
  length--;
  for (int i = at; i < length; i++)
    list[i] = list[i + 1];
}

static int find(int version, int state, int signal) {
  for (int i = 0; i < length; i++)
    if (list[i].version == version && (int)list[i].state == state &&
        (!signal || list[i].info.si_signo == signal))
      return i;
  return -1;
}

void p3_pending_add(int version, const siginfo_t *info) {
  struct p3_guard guard;
  p3_lock(&guard);
  /* Of the old signals one at most is pending. */
  bool is_there = !is_real_time(info->si_signo) && find(version, KEPT, info->si_signo) >= 0;
  if (!is_there && length < ROOM) {
    list[length++] = (struct pending){KEPT, version, *info};
    p3_pending_count[version]++;
  }
  p3_unlock(&guard);
}

void p3_pending_send(int version, uint64_t which) {
  struct p3_guard guard;
  p3_lock(&guard);
  for (int i = 0; i < length; i++) {
    struct pending *pending = &list[i];
    if (pending->version != version || pending->state != KEPT || !(which & BIT(pending->info.si_signo)))
      continue;
    pending->state = SENT;
    p3_pending_count[version]--;
    siginfo_t info = pending->info;
    syscall(SYS_rt_sigqueueinfo, getpid(), info.si_signo, &info);
  }
  p3_unlock(&guard);
}

static bool is_same(const siginfo_t *a, const siginfo_t *b) {
  return a->si_signo == b->si_signo && a->si_code == b->si_code && a->si_pid == b->si_pid &&
         a->si_value.sival_ptr == b->si_value.sival_ptr;
}

bool p3_pending_taken(const siginfo_t *info, int *version) {
  bool found = false;
  struct p3_guard guard;
  if (!length)
    return false;
  p3_lock(&guard);
  for (int i = 0; i < length && !found; i++)
    if (list[i].state == SENT && is_same(&list[i].info, info)) {
      *version = list[i].version;
      take_out(i);
      found = true;
    }
  p3_unlock(&guard);
  return found;
}

bool p3_pending_merged(int version, int signal, siginfo_t *info) {
  struct p3_guard guard;
  if (!length || is_real_time(signal))
    return false;
  p3_lock(&guard);
  int at = find(version, SENT, signal);
  if (at >= 0) {
    *info = list[at].info;
    take_out(at);
  }
  p3_unlock(&guard);
  return at >= 0;
}

static void drop(int version, bool kept) {
  struct p3_guard guard;
  if (!length)
    return;
  p3_lock(&guard);
  for (int i = length - 1; i >= 0; i--)
    if (list[i].version == version && (kept || list[i].state == SENT)) {
      if (list[i].state == KEPT)
        p3_pending_count[version]--;
      take_out(i);
    }
  p3_unlock(&guard);
}

void p3_pending_left(int version) { drop(version, false); }

void p3_pending_drop(int version) { drop(version, true); }

void p3_pending_forked(void) {
  length = 0;
  for (int i = 0; i < p3_count; i++)
    p3_pending_count[i] = 0;
}
