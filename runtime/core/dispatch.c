/* Calls through pointers in lock-step: finds the product function of a pointer among many.
 *
 * Where functions stand in memory is known at run time only, so a table is sorted when it is first needed, by heap
 * sort: it needs no memory. The caller compares the pointers of all versions with the functions of the entry, so what is
 * returned need not be trusted. Lock-step code runs in the main thread only. */
#include "core.h"
#include <stdint.h>

__attribute__((weak)) unsigned klee_is_symbolic(uintptr_t value);

static uintptr_t address(const struct p3_dispatch *table, unsigned entry) {
  return (uintptr_t)table->entries[(size_t)entry * table->width];
}

static void swap(struct p3_dispatch *table, unsigned a, unsigned b) {
  const void **one = &table->entries[(size_t)a * table->width], **two = &table->entries[(size_t)b * table->width];
  for (unsigned i = 0; i < table->width; i++) {
    const void *other = one[i];
    one[i] = two[i];
    two[i] = other;
  }
}

/* Lets the entry at the root sink until none below it in the first count entries is greater. */
static void sift(struct p3_dispatch *table, unsigned root, unsigned count) {
  for (;;) {
    unsigned child = 2 * root + 1;
    if (child >= count)
      return;
    if (child + 1 < count && address(table, child) < address(table, child + 1))
      child++;
    if (address(table, root) >= address(table, child))
      return;
    swap(table, root, child);
    root = child;
  }
}

static void sort(struct p3_dispatch *table) {
  for (unsigned root = table->count / 2; root > 0; root--)
    sift(table, root - 1, table->count);
  for (unsigned count = table->count; count > 1; count--) {
    swap(table, 0, count - 1);
    sift(table, 0, count - 1);
  }
  table->sorted = 1;
}

/* What was found last, by address: most calls go where one went before. */
static struct found {
  const struct p3_dispatch *table;
  const void *function;
  unsigned long index;
} found[256];

/* By Fibonacci hashing (Knuth, TAOCP 3, 6.4). */
static struct found *slot_of(const void *function) {
  return &found[(uint64_t)(uintptr_t)function * 0x9E3779B97F4A7C15 >> 56];
}

static unsigned long __attribute__((noinline)) look_up(struct p3_dispatch *table, const void *function) {
  if (!table->sorted)
    sort(table);
  unsigned low = 0, high = table->count;
  while (low < high) {
    unsigned middle = low + (high - low) / 2;
    if (address(table, middle) < (uintptr_t)function)
      low = middle + 1;
    else
      high = middle;
  }
  bool is_there = low < table->count && address(table, low) == (uintptr_t)function;
  unsigned long index = is_there ? low : table->count;
  *slot_of(function) = (struct found){table, function, index};
  return index;
}

/* In KLEE a pointer that depends on the input is compared with one function after the other, as KLEE itself does at a call:
 * hashed, or in a search, it would cost the solver more than the whole program. */
static unsigned long __attribute__((noinline)) compare_all(const struct p3_dispatch *table, const void *function) {
  unsigned entry = 0;
  while (entry < table->count && address(table, entry) != (uintptr_t)function)
    entry++;
  return entry;
}

/* Short, so that it becomes part of the dispatchers. */
unsigned long p3_dispatch(struct p3_dispatch *table, const void *function) {
  if (p3_in_klee() && klee_is_symbolic((uintptr_t)function))
    return compare_all(table, function);
  const struct found *last = slot_of(function);
  if (last->function == function && last->table == table)
    return last->index;
  return look_up(table, function);
}
