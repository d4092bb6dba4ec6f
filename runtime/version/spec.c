/* pp_output and pp_input of include/p3.h. */
#include "p3_runtime.h"

void SHIM(klee_make_symbolic)(void *object, size_t size, const char *name);

void SHIM(p3_output)(const char *name, const void *bytes, size_t size);
void SHIM(p3_output)(const char *name, const void *bytes, size_t size) {
  p3_marked_output(p3v_index, name, bytes, size);
}

void SHIM(p3_input)(void *bytes, size_t size, const char *name);
void SHIM(p3_input)(void *bytes, size_t size, const char *name) { SHIM(klee_make_symbolic)(bytes, size, name); }
