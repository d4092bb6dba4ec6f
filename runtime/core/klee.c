/* Telling KLEE from a native run.
 *
 * KLEE deletes the bodies of the special functions that it implements itself, so a product that
 * defines klee_get_obj_size as "0" gets 0 natively and the real size in KLEE. */
#include "core.h"

__attribute__((weak, noinline, optnone)) size_t klee_get_obj_size(void *object) {
  (void)object;
  return 0;
}

__attribute__((weak, noinline, optnone)) int klee_get_value_i32(int value) { return value; }

/* One of the values that a symbolic one can have, without restricting it: to print it would fork. */
int p3_example(int value) { return klee_get_value_i32(value); }

__attribute__((weak)) void klee_assume(uintptr_t condition);

void p3_suppose(bool condition) {
  if (p3_in_klee())
    klee_assume(condition);
}

size_t p3_object_size(void *object) { return klee_get_obj_size(object); }

bool p3_klee;

void p3_look_for_klee(void) {
  static char probe[2];
  p3_klee = klee_get_obj_size(probe) != 0;
}
