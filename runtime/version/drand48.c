/* The drand48 family, per version: the 48-bit linear congruential generator that POSIX defines.
 *
 * The arithmetic is done here, not by libc's _r functions, since klee-uclibc does not have all of
 * them. A result in [0, 1) is exact: 48 bits fit into a double. */
#include "p3v_libc.h"
#include <stdint.h>
#include <stdlib.h>

#define MASK48 ((UINT64_C(1) << 48) - 1)
#define DEFAULT_FACTOR UINT64_C(0x5deece66d)
#define DEFAULT_ADDEND 0xb

static uint64_t state, factor = DEFAULT_FACTOR, addend = DEFAULT_ADDEND;

static uint64_t pack(const unsigned short words[3]) {
  return words[0] | (uint64_t)words[1] << 16 | (uint64_t)words[2] << 32;
}

static void unpack(uint64_t value, unsigned short words[3]) {
  for (int i = 0; i < 3; i++)
    words[i] = (unsigned short)(value >> (16 * i));
}

static uint64_t step(uint64_t value) { return (value * factor + addend) & MASK48; }

static uint64_t step_words(unsigned short words[3]) {
  uint64_t value = step(pack(words));
  unpack(value, words);
  return value;
}

static uint64_t next(void) { return state = step(state); }
static double as_fraction(uint64_t value) { return (double)value / (double)(UINT64_C(1) << 48); }
static long as_positive(uint64_t value) { return (long)(value >> 17); }
static long as_signed(uint64_t value) { return (int32_t)(value >> 16); }

double SHIM(drand48)(void) { return as_fraction(next()); }
long SHIM(lrand48)(void) { return as_positive(next()); }
long SHIM(mrand48)(void) { return as_signed(next()); }
double SHIM(erand48)(unsigned short words[3]) { return as_fraction(step_words(words)); }
long SHIM(nrand48)(unsigned short words[3]) { return as_positive(step_words(words)); }
long SHIM(jrand48)(unsigned short words[3]) { return as_signed(step_words(words)); }

static void reset_parameters(void) {
  factor = DEFAULT_FACTOR;
  addend = DEFAULT_ADDEND;
}

void SHIM(srand48)(long seed) {
  state = (uint64_t)(uint32_t)seed << 16 | 0x330e;
  reset_parameters();
}

unsigned short *SHIM(seed48)(unsigned short words[3]) {
  static unsigned short before[3];
  unpack(state, before);
  state = pack(words);
  reset_parameters();
  return before;
}

void SHIM(lcong48)(unsigned short words[7]) {
  state = pack(words);
  factor = pack(words + 3);
  addend = words[6];
}
