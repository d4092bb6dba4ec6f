/* Signals from other processes, again for the versions that run later.
 *
 * Alone, each version would have got a signal that somebody sent to the product. A version that runs after
 * others gets it as long after its own start as the first version got it after its, but not before it is in
 * the same situation: it has a handler if that one had one, and waits in a system call if that one did (with
 * some patience). A thread sends them, so that nothing of the version is interrupted to look. */
#include "process.h"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 256
#define MILLISECOND 1000000ll
#define PATIENCE (1000 * MILLISECOND)

static struct event {
  int signal;
  siginfo_t info;
  int64_t at; /* after the start of the version */
  bool caught, blocked;
} events[EVENTS];
static volatile int event_count;

static int64_t started[P3_MAX_VERSIONS];
static pthread_t sender;
static bool is_sending;
static volatile int receiver = P3_NOBODY;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

bool p3_has_started(int version) { return started[version] != 0; }

static bool others_follow(void) {
  for (int i = 0; i < p3_count; i++)
    if (!started[i])
      return true;
  return false;
}

void p3_outside_remember(int version, int signal, const siginfo_t *info, bool blocked) {
  int at = event_count;
  if (at == EVENTS || !others_follow())
    return;
  events[at] = (struct event){.signal = signal,
                              .info = *info,
                              .at = now() - started[version],
                              .caught = p3_signal_is_caught(version, signal),
                              .blocked = blocked};
  event_count = at + 1;
}

bool p3_outside_again(siginfo_t *info) {
  struct event *event = info->si_value.sival_ptr;
  if (info->si_code != SI_QUEUE || info->si_pid != getpid() || event < events ||
      event >= events + event_count)
    return false;
  *info = event->info;
  return true;
}

/* Whether the main thread waits in the kernel. What it does is said as "running" or the call's number. */
static bool main_is_blocked(void) {
  char path[64], text[16];
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", getpid());
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return true;
  ssize_t size = read(file, text, sizeof text);
  close(file);
  return size <= 0 || text[0] != 'r';
}

static bool is_ready(const struct event *event, int version) {
  return p3_signal_is_caught(version, event->signal) == event->caught &&
         (!event->blocked || main_is_blocked());
}

static void *send(void *unused) {
  int version = receiver;
  for (int i = 0; i < event_count; i++) {
    struct event *event = &events[i];
    for (;;) {
      int64_t late = now() - started[version] - event->at;
      if (receiver != version)
        return unused;
      if (late > PATIENCE || (late > 0 && is_ready(event, version)))
        break;
      int64_t wait = late > 0 ? 2 * MILLISECOND : -late < 10 * MILLISECOND ? -late : 10 * MILLISECOND;
      nanosleep(&(struct timespec){0, wait}, NULL);
    }
    sigqueue(getpid(), event->signal, (union sigval){.sival_ptr = event});
  }
  return unused;
}

void p3_outside_started(int version) {
  started[version] = now();
  if (!event_count)
    return;
  receiver = version;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  is_sending = pthread_create(&sender, NULL, send, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void p3_outside_ended(int version) {
  if (receiver != version)
    return;
  receiver = P3_NOBODY;
  if (is_sending)
    pthread_join(sender, NULL);
  is_sending = false;
}

void p3_outside_forked(void) {
  event_count = 0;
  receiver = P3_NOBODY;
  is_sending = false;
}
