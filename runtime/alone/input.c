/* pp_input and what KLEE has of the kind, for a version that is built alone: linked into versions that use them.
 *
 * The bytes come from the file P3_INPUT, zeros follow; which of them a taking gets is told in p3_named_bytes.h, and
 * P3_INPUT_NAMES names the file that hands it on to the version that runs next. Without P3_INPUT bytes stay what they
 * are, as in a program that is no product. The program sees neither variable. Functions that it defines itself are its
 * own: these are weak. */
#include "p3_named_bytes.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define WEAK __attribute__((weak))

WEAK void p3_input(void *bytes, size_t size, const char *name);
WEAK void klee_make_symbolic(void *bytes, size_t size, const char *name);
WEAK int klee_int(const char *name);
WEAK int klee_range(int begin, int end, const char *name);
WEAK void klee_assume(uintptr_t condition);
WEAK void klee_prefer_cex(void *object, uintptr_t condition);
WEAK unsigned klee_is_symbolic(uintptr_t value);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct p3_named_list list;
static char *given;
static size_t given_size;
static bool is_given;
static char names_path[PATH_MAX];

static _Noreturn void fail(const char *what) {
  dprintf(2, "p3: %s: %s\n", what, strerror(errno));
  _exit(127);
}

static char *contents(const char *path, size_t *size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    fail(path);
  size_t room = 0;
  char *text = NULL;
  for (*size = 0;;) {
    if (*size == room) {
      room = room ? room * 2 : 4096;
      text = realloc(text, room);
      if (!text)
        fail(path);
    }
    ssize_t got = read(fd, text + *size, room - *size);
    if (got < 0 && errno != EINTR)
      fail(path);
    if (got == 0)
      break;
    *size += got > 0 ? (size_t)got : 0;
  }
  close(fd);
  return text;
}

/* Before the program's own constructors, which may take some. */
__attribute__((constructor(101))) static void begin(void) {
  const char *path = getenv("P3_INPUT"), *names = getenv("P3_INPUT_NAMES");
  if (path) {
    given = contents(path, &given_size);
    is_given = true;
  }
  if (names && strlen(names) < sizeof names_path) {
    strcpy(names_path, names);
    size_t size;
    char *text = contents(names, &size);
    if (!p3_named_read(&list, text, size))
      fail(names);
    free(text);
  }
  unsetenv("P3_INPUT");
  unsetenv("P3_INPUT_NAMES");
}

/* At once: a version may crash. */
static void hand_on(const char *name, size_t size) {
  int fd = open(names_path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0)
    return; /* the program has another root or another user now */
  dprintf(fd, "%zu %s%c", size, name, '\0');
  close(fd);
}

static void take(void *bytes, size_t size, const char *name) {
  if (!is_given)
    return;
  int saved = errno;
  pthread_mutex_lock(&mutex);
  size_t at;
  bool is_new;
  if (!p3_named_take(&list, name ? name : "unnamed", size, &at, &is_new))
    fail("pp_input");
  size_t there = at < given_size ? given_size - at : 0;
  there = there < size ? there : size;
  memset(bytes, 0, size);
  if (there)
    memcpy(bytes, given + at, there);
  if (is_new && *names_path)
    hand_on(name ? name : "unnamed", size);
  pthread_mutex_unlock(&mutex);
  errno = saved;
}

void p3_input(void *bytes, size_t size, const char *name) { take(bytes, size, name); }

void klee_make_symbolic(void *bytes, size_t size, const char *name) { take(bytes, size, name); }

int klee_int(const char *name) {
  int value = 0;
  take(&value, sizeof value, name);
  return value;
}

int klee_range(int begin, int end, const char *name) {
  int value = begin;
  if (end - begin != 1)
    take(&value, sizeof value, name);
  return p3_named_in_range(value, begin, end);
}

/* The product tells whether an assumption holds. */
void klee_assume(uintptr_t condition) { (void)condition; }

void klee_prefer_cex(void *object, uintptr_t condition) {
  (void)object;
  (void)condition;
}

unsigned klee_is_symbolic(uintptr_t value) {
  (void)value;
  return 0;
}
