/* klee_make_symbolic and what KLEE's own runtime builds on it: the same symbolic values in every version.
 *
 * KLEE's functions exist in KLEE and in its replay library; without either the bytes are those of P3_INPUT, or of the
 * fuzzer, and stay what they are if there is no such source. */
#include "p3_named_bytes.h"
#include "p3_runtime.h"
#include <stdint.h>

__attribute__((weak)) void klee_make_symbolic(void *object, size_t size, const char *name);
__attribute__((weak)) void klee_assume(uintptr_t condition);
__attribute__((weak)) void klee_prefer_cex(void *object, uintptr_t condition);
__attribute__((weak)) unsigned klee_is_symbolic(uintptr_t value);

static void make_symbolic(void *object, size_t size, const char *name) {
  if (!name)
    name = "unnamed";
  if (!p3_in_klee() && !klee_make_symbolic) {
    p3_marked_input(p3v_index, object, size, name);
    return;
  }
  if (p3_symbolic_take(p3v_index, object, size, name))
    return;
  klee_make_symbolic(object, size, name);
  p3_symbolic_add(p3v_index, object, size, name);
}

/* Where KLEE is not, the input is of no interest if it does not hold. */
void SHIM(klee_assume)(uintptr_t condition) {
  if (p3_in_klee() || klee_assume)
    klee_assume(condition);
  else if (!condition)
    p3_assumption_failed("klee_assume");
}

void SHIM(klee_prefer_cex)(void *object, uintptr_t condition) {
  if (p3_in_klee() || klee_prefer_cex)
    klee_prefer_cex(object, condition);
}

unsigned SHIM(klee_is_symbolic)(uintptr_t value) {
  return p3_in_klee() || klee_is_symbolic ? klee_is_symbolic(value) : 0;
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
  if (!p3_in_klee() && !klee_assume)
    return p3_named_in_range(value, begin, end);
  klee_assume((begin <= value) & (value < end));
  return value;
}
