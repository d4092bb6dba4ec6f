/* Alarms and timers. Each version has its own; when it ends, core/ deletes them.
 *
 * alarm and setitimer(ITIMER_REAL) share one timer, as in the kernel, but it is a POSIX timer here, so that
 * the versions do not take it from each other. In KLEE time does not pass and no timer ever fires. */
#include "p3v_process.h"
#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define MICRO 1000000

static struct p3_timer *alarm_timer;

static struct itimerval to_micro(const struct itimerspec *time) {
  struct itimerval result = {{time->it_interval.tv_sec, time->it_interval.tv_nsec / 1000},
                             {time->it_value.tv_sec, (time->it_value.tv_nsec + 999) / 1000}};
  if (result.it_value.tv_usec == MICRO)
    result.it_value = (struct timeval){result.it_value.tv_sec + 1, 0};
  return result;
}

static bool is_valid(struct timeval time) {
  return time.tv_sec >= 0 && time.tv_usec >= 0 && time.tv_usec < MICRO;
}

static bool has_alarm(void) {
  /* A forked child has none. */
  static pid_t owner;
  if (owner != p3v_process())
    alarm_timer = NULL;
  owner = p3v_process();
  return alarm_timer;
}

static int make_alarm(void) {
  if (has_alarm())
    return 0;
  alarm_timer = p3_timer_new(p3v_index);
  if (!alarm_timer) {
    errno = EAGAIN;
    return -1;
  }
  alarm_timer->is_alarm = true;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  event.sigev_value.sival_ptr = alarm_timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &alarm_timer->id) == 0)
    return 0;
  p3_timer_free(alarm_timer);
  alarm_timer = NULL;
  return -1;
}

int SHIM(getitimer)(__itimer_which_t which, struct itimerval *time) {
  if (which != ITIMER_REAL || p3_in_klee())
    return getitimer(which, time);
  struct itimerspec left;
  memset(&left, 0, sizeof left);
  if (has_alarm() && timer_gettime(alarm_timer->id, &left) != 0)
    return -1;
  *time = to_micro(&left);
  return 0;
}

int SHIM(setitimer)(__itimer_which_t which, const struct itimerval *restrict new,
                    struct itimerval *restrict old) {
  if (p3_in_klee()) {
    if (old)
      memset(old, 0, sizeof *old);
    return 0;
  }
  if (which != ITIMER_REAL)
    return setitimer(which, new, old);
  if (!new)
    return old ? SHIM(getitimer)(which, old) : 0;
  if (!is_valid(new->it_value) || !is_valid(new->it_interval)) {
    errno = EINVAL;
    return -1;
  }
  if (make_alarm() != 0)
    return -1;
  struct itimerspec time = {{new->it_interval.tv_sec, new->it_interval.tv_usec * 1000},
                            {new->it_value.tv_sec, new->it_value.tv_usec * 1000}},
                    before;
  if (timer_settime(alarm_timer->id, 0, &time, &before) != 0)
    return -1;
  if (old)
    *old = to_micro(&before);
  return 0;
}

unsigned SHIM(alarm)(unsigned seconds) {
  struct itimerval new = {{0, 0}, {seconds, 0}}, old;
  if (SHIM(setitimer)(ITIMER_REAL, &new, &old) != 0)
    return 0;
  /* As the kernel rounds: to the nearest second, but not to none. */
  unsigned left = (unsigned)old.it_value.tv_sec;
  if (old.it_value.tv_usec >= MICRO / 2 || (left == 0 && old.it_value.tv_usec))
    left++;
  return left;
}

useconds_t SHIM(ualarm)(useconds_t value, useconds_t interval) {
  struct itimerval new = {{interval / MICRO, interval % MICRO}, {value / MICRO, value % MICRO}}, old;
  if (SHIM(setitimer)(ITIMER_REAL, &new, &old) != 0)
    return (useconds_t)-1;
  return (useconds_t)(old.it_value.tv_sec * MICRO + old.it_value.tv_usec);
}

void p3v_alarm_hand_over(void) {
  struct itimerval left;
  if (alarm_timer && SHIM(getitimer)(ITIMER_REAL, &left) == 0 &&
      (left.it_value.tv_sec || left.it_value.tv_usec))
    setitimer(ITIMER_REAL, &left, NULL);
}

/* ---- POSIX timers ---- */

/* On a thread of libc's. */
static void notify(union sigval value) {
  struct p3_timer *timer = value.sival_ptr;
  timer->notify(timer->value);
}

int SHIM(timer_create)(clockid_t clock, struct sigevent *restrict event, timer_t *restrict id) {
  struct p3_timer *timer = p3_in_klee() ? NULL : p3_timer_new(p3v_index);
  if (!timer) {
    errno = EAGAIN;
    return -1;
  }
  struct sigevent real;
  if (event) {
    real = *event;
  } else {
    memset(&real, 0, sizeof real);
    real.sigev_notify = SIGEV_SIGNAL;
    real.sigev_signo = SIGALRM;
  }
  timer->value = real.sigev_value;
  real.sigev_value.sival_ptr = timer;
  if (real.sigev_notify == SIGEV_THREAD) {
    timer->notify = real.sigev_notify_function;
    real.sigev_notify_function = notify;
  } else if (real.sigev_notify == SIGEV_THREAD_ID) {
    real._sigev_un._tid = p3v_real(real._sigev_un._tid);
  }
  if (timer_create(clock, &real, &timer->id) != 0) {
    p3_timer_free(timer);
    return -1;
  }
  if (!event) /* libc's value is the timer's number then */
    timer->value.sival_int = (int)(intptr_t)timer->id;
  *id = timer->id;
  return 0;
}

int SHIM(timer_delete)(timer_t id) {
  struct p3_timer *timer = p3_timer_find(p3v_index, id);
  if (!timer) {
    errno = EINVAL;
    return -1;
  }
  int result = timer_delete(id);
  p3_timer_free(timer);
  return result;
}

int SHIM(timer_settime)(timer_t id, int flags, const struct itimerspec *restrict new,
                        struct itimerspec *restrict old) {
  struct itimerspec real;
  struct timespec space;
  if (flags & TIMER_ABSTIME && new && (new->it_value.tv_sec || new->it_value.tv_nsec)) {
    real = *new;
    real.it_value = *p3v_deadline(&new->it_value, &space);
    new = &real;
  }
  return timer_settime(id, flags, new, old);
}
