/* pp_output and pp_input of include/p3.h. */
#include "p3_runtime.h"

__attribute__((weak)) void klee_make_symbolic(void *object, size_t size, const char *name);
void SHIM(klee_make_symbolic)(void *object, size_t size, const char *name);

void SHIM(p3_output)(const char *name, const void *bytes, size_t size);
void SHIM(p3_output)(const char *name, const void *bytes, size_t size) {
  p3_marked_output(p3v_index, name, bytes, size);
}

/* Natively without a source the bytes stay the version's own, as in a program that is no product. */
void SHIM(p3_input)(void *bytes, size_t size, const char *name);
void SHIM(p3_input)(void *bytes, size_t size, const char *name) {
  if (p3_in_klee() || klee_make_symbolic)
    SHIM(klee_make_symbolic)(bytes, size, name);
  else
    p3_marked_input(p3v_index, bytes, size, name);
}
