/* The floating-point environment of each version: rounding mode, exception flags and traps.
 *
 * It is in the processor's registers, x87's and SSE's. They are read and written here by instructions:
 * <fenv.h>'s functions are in libm, to which a product need not be linked. KLEE has neither. */
#include "core.h"
#include <stdint.h>

#define X87_FLAGS 0x3f

struct environment {
  bool known;
  uint32_t sse;
  uint16_t control, status;
};
static struct environment saved[P3_MAX_VERSIONS];
static struct environment initial; /* what every version begins with */

static struct environment read_registers(void) {
  struct environment now = {.known = true};
  __asm__ volatile("stmxcsr %0" : "=m"(now.sse));
  __asm__ volatile("fnstcw %0" : "=m"(now.control));
  __asm__ volatile("fnstsw %0" : "=m"(now.status));
  return now;
}

/* The only way to set x87's exception flags is through the whole environment. */
static void write_x87(const struct environment *wanted) {
  struct {
    uint16_t control, unused1, status, unused2;
    uint32_t rest[5];
  } whole;
  __asm__ volatile("fnstenv %0" : "=m"(whole));
  whole.control = wanted->control;
  whole.status = (uint16_t)((whole.status & ~X87_FLAGS) | (wanted->status & X87_FLAGS));
  __asm__ volatile("fldenv %0" : : "m"(whole));
}

static void write_registers(const struct environment *wanted) {
  struct environment now = read_registers();
  if (now.sse != wanted->sse)
    __asm__ volatile("ldmxcsr %0" : : "m"(wanted->sse));
  if (now.control != wanted->control || ((now.status ^ wanted->status) & X87_FLAGS))
    write_x87(wanted);
}

void p3_float_switch(int from, int to) {
  if (!initial.known)
    initial = read_registers();
  if (from >= 0)
    saved[from] = read_registers();
  write_registers(saved[to].known ? &saved[to] : &initial);
}
