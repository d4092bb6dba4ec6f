/* What versions give out and take in under names (pp_output, pp_input of include/p3.h).
 *
 * As soon as a version has given anything out so, that is what the check `output` compares: name by name, all
 * bytes that each version gave out under it. */
#include "core.h"
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

static int source = -1;

void p3_marked_open(const char *path) {
  source = p3_fd_hide(open(path, O_RDONLY | O_CLOEXEC));
  if (source < 0)
    p3_fatal("P3_INPUT=%s: %s", path, strerror(errno));
}

/* The next bytes of the source, zeros behind its end, for the first version that asks; the others get the same. */
static void take(int version, const char *name, void *bytes, size_t size) {
  if (p3_symbolic_take(version, bytes, size, name))
    return;
  char *to = bytes;
  memset(to, 0, size);
  for (size_t done = 0; done < size;) {
    ssize_t got = read(source, to + done, size - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    done += (size_t)got;
  }
  p3_symbolic_add(version, bytes, size, name);
}

bool p3_marked_input(int version, void *bytes, size_t size, const char *name) {
  if (source >= 0)
    guarded(take, version, name, bytes, size);
  return source >= 0;
}
