/* What a run takes from libc and has to give back at its end: blocks of memory above all.
 *
 * Blocks are plain malloc's, so that sanitizers see each of them as it is; they are remembered beside, in a hash
 * table with open addressing. Blocks that libc allocates for itself are unknown here and stay libc's. */
#include "harness.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool p3_heap_watched;

struct held {
  void *thing;
  void (*release)(void *thing);
};
#define SMALLEST 1024u
static struct held *table;
static size_t capacity, count;

static size_t home(const void *thing, size_t size) {
  return (size_t)((uintptr_t)thing >> 4) * 0x9e3779b97f4a7c15u >> 20 & (size - 1);
}

static struct held *place(struct held *in, size_t size, const void *thing) {
  size_t at = home(thing, size);
  while (in[at].thing && in[at].thing != thing)
    at = (at + 1) & (size - 1);
  return &in[at];
}

static void resize(size_t size) {
  struct held *bigger = calloc(size, sizeof *bigger);
  if (!bigger)
    p3_fatal("out of memory");
  for (size_t i = 0; i < capacity; i++)
    if (table[i].thing)
      *place(bigger, size, table[i].thing) = table[i];
  free(table);
  table = bigger;
  capacity = size;
}

void *p3_heap_hold(void *thing, void (*release)(void *thing)) {
  if (!thing || !p3_heap_watched)
    return thing;
  if (count + count / 2 >= capacity)
    resize(capacity ? 2 * capacity : SMALLEST);
  struct held *held = place(table, capacity, thing);
  count += !held->thing;
  *held = (struct held){thing, release};
  return thing;
}

void p3_heap_drop(void *thing) {
  if (!thing || !p3_heap_watched || !count)
    return;
  struct held *held = place(table, capacity, thing);
  if (!held->thing)
    return;
  count--;
  /* Those behind it that would not be found any more move up. */
  size_t hole = (size_t)(held - table), at = hole;
  for (;;) {
    at = (at + 1) & (capacity - 1);
    if (!table[at].thing)
      break;
    size_t wanted = home(table[at].thing, capacity);
    if (((at - wanted) & (capacity - 1)) < ((at - hole) & (capacity - 1)))
      continue;
    table[hole] = table[at];
    hole = at;
  }
  table[hole].thing = NULL;
}

bool p3_heap_has(const void *thing) { return count && thing && place(table, capacity, thing)->thing; }

void p3_heap_drop_all_of(void (*release)(void *thing)) {
  for (size_t i = 0; i < capacity && count;)
    if (table[i].thing && table[i].release == release)
      p3_heap_drop(table[i].thing); /* another one may have moved here */
    else
      i++;
}

/* ---- mappings, which may be unmapped in part ---- */

static struct mapping {
  char *from, *to;
} *mappings;
static size_t mapping_count, mapping_room;

static void add_mapping(char *from, char *to) {
  if (from >= to)
    return;
  if (mapping_count == mapping_room) {
    size_t room = mapping_room ? 2 * mapping_room : 16;
    struct mapping *more = realloc(mappings, room * sizeof *more);
    if (!more)
      p3_fatal("out of memory");
    mappings = more;
    mapping_room = room;
  }
  mappings[mapping_count++] = (struct mapping){from, to};
}

void p3_heap_unmap(void *at, size_t size) {
  char *from = at, *to = from + (size + 4095) / 4096 * 4096;
  for (size_t i = mapping_count; p3_heap_watched && i-- > 0;) {
    struct mapping old = mappings[i];
    if (old.to <= from || old.from >= to)
      continue;
    mappings[i] = mappings[--mapping_count];
    add_mapping(old.from, old.from < from ? from : old.from);
    add_mapping(old.to > to ? to : old.to, old.to);
  }
}

void p3_heap_map(void *at, size_t size) {
  if (!p3_heap_watched)
    return;
  p3_heap_unmap(at, size);
  add_mapping(at, (char *)at + (size + 4095) / 4096 * 4096);
}

void p3_heap_release(void) {
  for (size_t i = 0; i < capacity && count; i++)
    if (table[i].thing) {
      struct held held = table[i];
      table[i].thing = NULL;
      count--;
      held.release(held.thing);
    }
  if (capacity > 64 * SMALLEST) {
    free(table);
    table = NULL;
    capacity = 0;
  }
  while (mapping_count) {
    struct mapping last = mappings[--mapping_count];
    munmap(last.from, (size_t)(last.to - last.from));
  }
}
