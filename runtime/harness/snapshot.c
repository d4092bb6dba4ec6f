/* All variables of the versions and of core/ as they are before the first run, and back to that.
 *
 * The harness pass lists them and puts those that it may move into two sections of their own, one that begins
 * with zeros and one that does not, so that copying back is one copy each. What lies between variables there
 * (a sanitizer's red zones) is copied, too, which is why this code is not instrumented and does not call memcpy.
 * Large variables that begin with zeros are given back to the kernel instead, as a group as well. */
#include "harness.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define RAW __attribute__((disable_sanitizer_instrumentation, noinline))

/* Emitted by the harness pass. */
struct p3_region {
  char *start;
  size_t size;
  size_t kind;
};
enum { ALONE, WITH_DATA, WITH_ZEROS, LARGE_ZEROS, KINDS };
extern const struct p3_region p3_regions[];
extern const size_t p3_region_count;
/* Calls `visit` with each thread-local variable of this thread. */
void p3_thread_locals(void (*visit)(char *start, size_t size));

struct copy {
  char *at, *saved;
  size_t size;
};
static struct copy *copies;
static size_t copy_count;

static struct copy *zeros;
static size_t zero_count;

typedef uint64_t word __attribute__((may_alias, aligned(1)));

RAW static void copy_bytes(char *to, const char *from, size_t size) {
  for (; size >= sizeof(word); size -= sizeof(word), to += sizeof(word), from += sizeof(word))
    *(word *)to = *(const word *)from;
  for (; size; size--)
    *to++ = *from++;
}

RAW static void clear_bytes(char *to, size_t size) {
  for (; size >= sizeof(word); size -= sizeof(word), to += sizeof(word))
    *(word *)to = 0;
  for (; size; size--)
    *to++ = 0;
}

RAW static bool is_clear(const char *at, size_t size) {
  while (size && !*at)
    at++, size--;
  return !size;
}

static void save(char *at, size_t size) {
  struct copy copy = {at, malloc(size ? size : 1), size};
  if (!copy.saved)
    p3_fatal("out of memory");
  copy_bytes(copy.saved, at, size);
  copies[copy_count++] = copy;
}

static void save_as(size_t kind, char *at, size_t size) {
  if (kind == LARGE_ZEROS && is_clear(at, size))
    zeros[zero_count++] = (struct copy){at, NULL, size};
  else
    save(at, size);
}

/* As one if they lie together; a linker might have moved something between them. */
static void save_group(size_t kind) {
  char *from = NULL, *to = NULL;
  size_t sum = 0, count = 0;
  for (size_t i = 0; i < p3_region_count; i++) {
    const struct p3_region *region = &p3_regions[i];
    if (region->kind != kind)
      continue;
    if (!from || region->start < from)
      from = region->start;
    if (region->start + region->size > to)
      to = region->start + region->size;
    sum += region->size;
    count++;
  }
  /* The largest red zone is a quarter of its variable. */
  if (kind != ALONE && count && (size_t)(to - from) <= 2 * sum + 128 * count) {
    save_as(kind, from, (size_t)(to - from));
    return;
  }
  for (size_t i = 0; i < p3_region_count; i++)
    if (p3_regions[i].kind == kind)
      save_as(kind, p3_regions[i].start, p3_regions[i].size);
}

/* Thread-local ones, one behind the other. */
static char *locals;
static size_t local_size;

static void save_local(char *start, size_t size) {
  char *more = realloc(locals, local_size + size + 1);
  if (!more)
    p3_fatal("out of memory");
  locals = more;
  copy_bytes(locals + local_size, start, size);
  local_size += size;
}

static void restore_local(char *start, size_t size) {
  copy_bytes(start, locals + local_size, size);
  local_size += size;
}

void p3_snapshot_take(void) {
  copies = calloc(p3_region_count + KINDS, sizeof *copies);
  zeros = calloc(p3_region_count + 1, sizeof *zeros);
  if (!copies || !zeros)
    p3_fatal("out of memory");
  for (size_t kind = ALONE; kind < KINDS; kind++)
    save_group(kind);
  p3_thread_locals(save_local);
}

static void forget(char *at, size_t size) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t from = ((uintptr_t)at + page - 1) / page * page, to = ((uintptr_t)at + size) / page * page;
  if (to <= from || madvise((void *)from, to - from, MADV_DONTNEED) != 0) {
    clear_bytes(at, size);
    return;
  }
  clear_bytes(at, from - (uintptr_t)at);
  clear_bytes((char *)to, (uintptr_t)at + size - to);
}

void p3_snapshot_restore(void) {
  for (size_t i = 0; i < copy_count; i++)
    copy_bytes(copies[i].at, copies[i].saved, copies[i].size);
  for (size_t i = 0; i < zero_count; i++)
    forget(zeros[i].at, zeros[i].size);
  local_size = 0;
  p3_thread_locals(restore_local);
}
