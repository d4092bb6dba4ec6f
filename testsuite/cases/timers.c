// POSIX timers by signal and by thread, processor-time timers, and waiting until a point in time.
//@ cflags: -pthread
//@ link: -pthread
//@ expect: output
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int rung, used;

static void on_timer(int number, siginfo_t *info, void *context) {
  rung = info->si_value.sival_int;
  printf("%d %d\n", info->si_code == SI_TIMER, rung);
}

static void on_thread(union sigval value) { rung = value.sival_int; }
static void on_used(int number) { used = 1; }

static struct timespec in_a_moment(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += 20000000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_sec++;
    time.tv_nsec -= 1000000000;
  }
  return time;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO};
  sigaction(SIGRTMIN, &action, NULL);
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGRTMIN;
  event.sigev_value.sival_int = 70 + V;
  timer_t timer;
  struct itimerspec soon = {.it_value.tv_nsec = 10000000};
  printf("%d\n", timer_create(CLOCK_MONOTONIC, &event, &timer));
  timer_settime(timer, 0, &soon, NULL);
  while (!rung)
    pause();
  timer_delete(timer);

  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = on_thread;
  event.sigev_notify_attributes = NULL;
  event.sigev_value.sival_int = 80;
  timer_create(CLOCK_REALTIME, &event, &timer);
  timer_settime(timer, 0, &soon, NULL);
  while (rung != 80)
    usleep(1000);
  printf("%d %d\n", timer_delete(timer), timer_delete(timer));

  signal(SIGVTALRM, on_used);
  struct itimerval busy = {.it_value.tv_usec = 10000};
  setitimer(ITIMER_VIRTUAL, &busy, NULL);
  while (!used)
    ;
  struct timespec until = in_a_moment(CLOCK_MONOTONIC);
  printf("%d\n", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  until = in_a_moment(CLOCK_REALTIME);
  printf("%d\n", pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  until = in_a_moment(CLOCK_REALTIME);
  printf("%d ", sem_timedwait(&semaphore, &until));
  printf("%d\n", errno == ETIMEDOUT);
  /* Left armed: it must not ring in the next version. */
  alarm(1);
  return 0;
}
