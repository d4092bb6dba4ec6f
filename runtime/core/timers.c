/* The versions' timers. Their signals carry the address of the timer's record, so that on_signal knows whose
 * they are; what the version asked to be sent instead is in the record. */
#include "process.h"
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define TIMERS 512

static struct p3_timer timers[TIMERS];

struct p3_timer *p3_timer_new(int version) {
  struct p3_timer *found = NULL;
  struct p3_guard guard;
  p3_lock(&guard);
  for (int i = 0; i < TIMERS && !found; i++)
    if (!timers[i].used)
      found = &timers[i];
  if (found)
    *found = (struct p3_timer){.used = true, .version = version};
  p3_unlock(&guard);
  return found;
}

void p3_timer_free(struct p3_timer *timer) { timer->used = false; }

struct p3_timer *p3_timer_find(int version, timer_t id) {
  for (int i = 0; i < TIMERS; i++)
    if (timers[i].used && timers[i].version == version && !timers[i].is_alarm && timers[i].id == id)
      return &timers[i];
  return NULL;
}

bool p3_timer_signal(siginfo_t *info, int *version) {
  struct p3_timer *timer = info->si_value.sival_ptr;
  if (info->si_code != SI_TIMER || timer < timers || timer >= timers + TIMERS)
    return false;
  *version = timer->version;
  if (timer->is_alarm) {
    memset(info, 0, sizeof *info);
    info->si_signo = SIGALRM;
    info->si_code = SI_KERNEL;
  } else {
    info->si_value = timer->value;
  }
  return true;
}

void p3_timers_ended(int version) {
  for (int i = 0; i < TIMERS; i++)
    if (timers[i].used && timers[i].version == version) {
      timer_delete(timers[i].id);
      timers[i].used = false;
    }
  struct itimerval off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_VIRTUAL, &off, NULL);
  setitimer(ITIMER_PROF, &off, NULL);
}

/* A child has none of its parent's. */
void p3_timers_forked(void) { memset(timers, 0, sizeof timers); }
