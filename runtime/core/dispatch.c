/* Calls through pointers in lock-step: finds the product function of a pointer among many.
 *
 * Where functions stand in memory is known at run time only, so a table is sorted when it is first needed, by heap
 * sort: it needs no memory. The caller compares the pointers of all versions with the functions found, so what is
 * returned need not be trusted. Lock-step code runs in the main thread only. */
#include "core.h"
#include <stdint.h>

static uintptr_t address(const struct p3_dispatch *table, unsigned entry) {
  return (uintptr_t)table->entries[entry].function;
}

static void swap(struct p3_dispatch *table, unsigned a, unsigned b) {
  __typeof__(table->entries[0]) other = table->entries[a];
  table->entries[a] = table->entries[b];
  table->entries[b] = other;
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
static struct {
  const struct p3_dispatch *table;
  const void *function;
  unsigned long index;
} found[64];

unsigned long p3_dispatch(struct p3_dispatch *table, const void *function) {
  __typeof__(found[0]) *last = &found[((uintptr_t)function >> 4 ^ (uintptr_t)table >> 6) % 64];
  if (last->function == function && last->table == table)
    return last->index;
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
  unsigned long index = is_there ? table->entries[low].index : table->count;
  *last = (__typeof__(*last)){table, function, index};
  return index;
}
