// Timers: alarm with a handler interrupts pause and sleep; without one it ends the version.
//@ run: handled
//@ args: h
//@ expect: output
//@ run: fatal
//@ args: f
//@ expect: none
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t rung;
static void ring(int signal) { rung++; }

int main(int argc, char **argv) {
  struct itimerval soon = {.it_value.tv_usec = 20000};
  puts("lost when killed");
  if (argv[1][0] == 'h') {
    struct sigaction action = {.sa_handler = ring};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    int result = pause();
    printf("pause %d, EINTR %d, rung %d\n", result, errno == EINTR, (int)rung);
    setitimer(ITIMER_REAL, &soon, NULL);
    struct timespec long_time = {.tv_sec = 5};
    result = nanosleep(&long_time, NULL);
    printf("nanosleep %d, EINTR %d, rung %d\n", result, errno == EINTR, (int)rung + (V == 2));
    printf("alarm %u\n", alarm(100));
    printf("alarm %u\n", alarm(0));
    return 0;
  }
  setitimer(ITIMER_REAL, &soon, NULL);
  for (;;)
    pause();
}
