/* What versions give out and take in under names (pp_output, pp_input of include/p3.h).
 *
 * As soon as a version has given anything out so, that is what the check `output` compares: name by name, all
 * bytes that each version gave out under it. */
#include "core.h"
#include "p3_named_bytes.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct p3_mark *p3_marks;
static struct p3_mark **last = &p3_marks;

static struct p3_mark *mark_named(const char *name) {
  for (struct p3_mark *mark = p3_marks; mark; mark = mark->next)
    if (strcmp(mark->name, name) == 0)
      return mark;
  size_t size = strlen(name) + 1;
  struct p3_mark *mark = calloc(1, sizeof *mark + size);
  if (!mark)
    p3_fatal("out of memory");
  p3_memory_copy(mark->name, name, size);
  *last = mark;
  last = &mark->next;
  return mark;
}

static void guarded(void (*what)(int, const char *, void *, size_t), int version, const char *name, void *bytes,
                    size_t size) {
  struct p3_guard guard;
  if (!p3_in_klee())
    p3_lock(&guard);
  what(version, name, bytes, size);
  if (!p3_in_klee())
    p3_unlock(&guard);
}

static void append(int version, const char *name, void *bytes, size_t size) {
  struct p3_capture *capture = &mark_named(name)->captures[version];
  p3_memory_append(capture, bytes, size);
}

void p3_marked_output(int version, const char *name, const void *bytes, size_t size) {
  guarded(append, version, name, (void *)bytes, size);
}

/* ---- the check ---- */

bool p3_mark_differs(const struct p3_mark *mark, int version) {
  const struct p3_capture *a = &mark->captures[0], *b = &mark->captures[version];
  return a->length != b->length || p3_memory_differs(a->bytes, b->bytes, a->length);
}

size_t p3_mark_difference(const struct p3_mark *mark, int version) {
  const struct p3_capture *a = &mark->captures[0], *b = &mark->captures[version];
  size_t at = 0, size = a->length < b->length ? a->length : b->length;
  while (at < size && a->bytes[at] == b->bytes[at])
    at++;
  return at;
}

bool p3_marks_differ(void) {
  for (struct p3_mark *mark = p3_marks; mark; mark = mark->next)
    for (int i = 1; i < p3_count; i++)
      if (p3_mark_differs(mark, i))
        return true;
  return false;
}

void p3_marks_say(void) {
  for (struct p3_mark *mark = p3_marks; mark; mark = mark->next)
    for (int i = 1; i < p3_count; i++)
      if (p3_mark_differs(mark, i)) {
        /* In KLEE the place may be symbolic; to look for it would fork. */
        if (p3_in_klee())
          p3_say("output: '%s' of version %d (%s) differs from version 1 (%s)", mark->name, i + 1, p3_names[i],
                 p3_names[0]);
        else
          p3_say("output: '%s' of version %d (%s) differs from version 1 (%s) at byte %zu", mark->name, i + 1,
                 p3_names[i], p3_names[0], p3_mark_difference(mark, i));
        return;
      }
}

/* ---- input ---- */

static bool is_given;
static int source = -1; /* P3_INPUT, which is read as far as it is needed: it may be a pipe */
static int names = -1;  /* P3_INPUT_NAMES */
static const char *given;
static size_t given_size;
static struct p3_named_list taken;

/* Reads `size` bytes more into the buffer; less only if there is no more. */
static void read_on(size_t size) {
  static char *buffer;
  static size_t room;
  if (given_size + size > room) {
    room = given_size + size > 2 * room ? given_size + size : 2 * room;
    buffer = realloc(buffer, room);
    if (!buffer)
      p3_fatal("out of memory");
    given = buffer;
  }
  while (size) {
    ssize_t got = read(source, buffer + given_size, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    given_size += (size_t)got;
    size -= (size_t)got;
  }
}

static int open_hidden(const char *variable, const char *path, int flags) {
  int fd = p3_fd_hide(open(path, flags | O_CLOEXEC));
  if (fd < 0)
    p3_fatal("%s=%s: %s", variable, path, strerror(errno));
  return fd;
}

void p3_marked_open(const char *path, const char *path_of_names) {
  is_given = true;
  if (path_of_names) {
    source = names = open_hidden("P3_INPUT_NAMES", path_of_names, O_RDWR | O_APPEND);
    struct stat file;
    if (fstat(names, &file) == 0 && file.st_size > 0)
      read_on((size_t)file.st_size);
    if (!p3_named_read(&taken, given, given_size))
      p3_fatal("out of memory");
    given_size = 0;
  }
  source = open_hidden("P3_INPUT", path, O_RDONLY);
}

/* At once: a version may crash. */
static void hand_on(const char *name, size_t size) {
  if (names >= 0 && dprintf(names, "%zu %s%c", size, name, '\0') < 0)
    p3_fatal("P3_INPUT_NAMES: cannot write: %s", strerror(errno));
}

void p3_marked_give(const void *bytes, size_t size) {
  is_given = true;
  given = bytes;
  given_size = size;
}

/* For the first version that asks; zeros behind the end. The others get the same. */
static void take(int version, const char *name, void *bytes, size_t size) {
  if (p3_symbolic_take(version, bytes, size, name))
    return;
  size_t at;
  bool is_new;
  if (!p3_named_take(&taken, name, size, &at, &is_new))
    p3_fatal("out of memory");
  if (is_new)
    hand_on(name, size);
  if (source >= 0 && at + size > given_size)
    read_on(at + size - given_size);
  size_t there = at < given_size ? given_size - at : 0;
  there = there < size ? there : size;
  memset(bytes, 0, size);
  if (there)
    memcpy(bytes, given + at, there);
  p3_symbolic_add(version, bytes, size, name);
}

bool p3_marked_input(int version, void *bytes, size_t size, const char *name) {
  if (is_given)
    guarded(take, version, name, bytes, size);
  return is_given;
}
