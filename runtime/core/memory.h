/* What the files share that write to captures in KLEE. */
#ifndef P3_MEMORY_H
#define P3_MEMORY_H

#include "core.h"
#include <stdint.h>

typedef uint64_t word __attribute__((may_alias, aligned(1)));
typedef uint32_t half __attribute__((may_alias, aligned(1)));
typedef uint16_t quarter __attribute__((may_alias, aligned(1)));

/* `capture` becomes what `file` is a direct way to; if it is none, the function is left. A function of its own could
 * not do that without more branches. */
#define P3_CAPTURE_BEHIND(version, file, otherwise)                                                          \
  struct p3_state *state = &p3_states[version];                                                              \
  int stream;                                                                                                \
  if (file == state->direct[1])                                                                              \
    stream = 1;                                                                                              \
  else if (file == state->direct[2])                                                                         \
    stream = 2;                                                                                              \
  else                                                                                                       \
    return otherwise;                                                                                        \
  state->has_bytes[stream] = true;                                                                           \
  struct p3_capture *capture = &p3_captures[version][stream]

/* The capture gets memory for at least that many bytes. */
void p3_memory_grow(struct p3_capture *capture, size_t wanted);

#endif
