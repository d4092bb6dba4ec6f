/* klee_make_symbolic and what KLEE's own runtime builds on it: the same symbolic values in every version.
 *
 * KLEE's functions exist in KLEE and in its replay library; without either a value stays what it is. */
#include "p3_runtime.h"
#include <stdint.h>

__attribute__((weak)) void klee_make_symbolic(void *object, size_t size, const char *name);
__attribute__((weak)) void klee_assume(uintptr_t condition);

static void make_symbolic(void *object, size_t size, const char *name) {
  if (!name)
    name = "unnamed";
  if (p3_symbolic_take(p3v_index, object, size, name))
    return;
  if (p3_in_klee() || klee_make_symbolic)
    klee_make_symbolic(object, size, name);
  p3_symbolic_add(p3v_index, object, size, name);
}

static void assume(bool condition) {
  if (p3_in_klee() || klee_assume)
    klee_assume(condition);
}

void SHIM(klee_make_symbolic)(void *object, size_t size, const char *name) {
  make_symbolic(object, size, name);
}

int SHIM(klee_int)(const char *name) {
  int value = 0;
  make_symbolic(&value, sizeof value, name);
  return value;
}

/* An empty range is an error of the program: KLEE reports it. */
int SHIM(klee_range)(int begin, int end, const char *name) {
  if (end - begin == 1)
    return begin;
  int value = begin;
  make_symbolic(&value, sizeof value, name);
  assume((begin <= value) & (value < end));
  return value;
}
