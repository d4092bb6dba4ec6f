/* Waiting until a point in time: the version's clock may be behind the real one (core/clock.c). */
#include "p3v_process.h"
#include <errno.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <unistd.h>

/* The same call with the deadline as the real clock has it. */
#define UNTIL(result, name, parameters, ...)                                                                 \
  result SHIM(name) parameters {                                                                             \
    struct timespec space;                                                                                   \
    result done = name(__VA_ARGS__);                                                                         \
    p3v_poll();                                                                                              \
    return done;                                                                                             \
  }
#define REAL_TIME(deadline) p3v_deadline(deadline, &space)
typedef const struct timespec *restrict when;

UNTIL(int, pthread_cond_timedwait,
      (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, when time), condition, mutex,
      REAL_TIME(time))
UNTIL(int, pthread_cond_clockwait,
      (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock, when time),
      condition, mutex, clock, REAL_TIME(time))
UNTIL(int, pthread_mutex_timedlock, (pthread_mutex_t *restrict mutex, when time), mutex, REAL_TIME(time))
UNTIL(int, pthread_mutex_clocklock, (pthread_mutex_t *restrict mutex, clockid_t clock, when time), mutex,
      clock, REAL_TIME(time))
UNTIL(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *restrict lock, when time), lock, REAL_TIME(time))
UNTIL(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *restrict lock, when time), lock, REAL_TIME(time))
UNTIL(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t *restrict lock, clockid_t clock, when time), lock,
      clock, REAL_TIME(time))
UNTIL(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t *restrict lock, clockid_t clock, when time), lock,
      clock, REAL_TIME(time))
UNTIL(int, sem_timedwait, (sem_t *restrict semaphore, when time), semaphore, REAL_TIME(time))
UNTIL(int, sem_clockwait, (sem_t *restrict semaphore, clockid_t clock, when time), semaphore, clock,
      REAL_TIME(time))
UNTIL(int, cnd_timedwait, (cnd_t *restrict condition, mtx_t *restrict mutex, when time), condition, mutex,
      REAL_TIME(time))
UNTIL(int, mtx_timedlock, (mtx_t *restrict mutex, when time), mutex, REAL_TIME(time))
UNTIL(int, mq_timedsend, (mqd_t queue, const char *message, size_t size, unsigned priority, when time), queue,
      message, size, priority, REAL_TIME(time))
UNTIL(ssize_t, mq_timedreceive,
      (mqd_t queue, char *restrict message, size_t size, unsigned *restrict priority, when time), queue,
      message, size, priority, REAL_TIME(time))

/* ---- sleeping ---- */

int SHIM(clock_nanosleep)(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
  struct timespec space;
  bool absolute = flags & TIMER_ABSTIME;
  struct p3_waiting waiting;
  int error, saved = errno;
  p3_wait_begin(&waiting, p3v_index, absolute ? NULL : time, NULL);
  do {
    error = clock_nanosleep(clock, flags, absolute ? p3v_deadline(time, &space) : waiting.timeout, left);
    errno = error;
  } while (p3_wait_again(&waiting, error != 0));
  errno = saved;
  p3v_poll();
  return error;
}

int SHIM(nanosleep)(const struct timespec *time, struct timespec *left) {
  if (p3_in_klee())
    return nanosleep(time, left);
  int error = SHIM(clock_nanosleep)(CLOCK_REALTIME, 0, time, left);
  if (error) {
    errno = error;
    return -1;
  }
  return 0;
}

unsigned SHIM(sleep)(unsigned seconds) {
  if (p3_in_klee())
    return sleep(seconds);
  struct timespec time = {seconds, 0};
  /* What is left is cut down to whole seconds. */
  return SHIM(clock_nanosleep)(CLOCK_REALTIME, 0, &time, &time) ? (unsigned)time.tv_sec : 0;
}

int SHIM(usleep)(useconds_t micro) {
  if (p3_in_klee())
    return usleep(micro);
  struct timespec time = {micro / 1000000, micro % 1000000 * 1000L};
  return SHIM(nanosleep)(&time, NULL);
}

int SHIM(thrd_sleep)(const struct timespec *time, struct timespec *left) {
  if (p3_in_klee())
    return thrd_sleep(time, left);
  int error = SHIM(clock_nanosleep)(CLOCK_REALTIME, 0, time, left);
  return error == 0 ? 0 : error == EINTR ? -1 : -2;
}
