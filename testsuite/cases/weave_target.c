// A function that uses instructions which only some processors have, in one version: versions that are compiled for
// different processors run one after the other there.
//@ run: one
//@ args: patch
//@ run: two
//@ args: "to be" "or not"
//@ expect: none
#include <immintrin.h>
#include <stdio.h>
#include <string.h>

#if V == 2
__attribute__((target("sse4.2"))) static unsigned crc(const char *text) {
  unsigned sum = ~0u;
  for (; *text; text++)
    sum = _mm_crc32_u8(sum, *text);
  return ~sum;
}
#else
static unsigned crc(const char *text) {
  unsigned sum = ~0u;
  for (; *text; text++) {
    sum ^= (unsigned char)*text;
    for (int bit = 0; bit < 8; bit++)
      sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78 : 0);
  }
  return ~sum;
}
#endif

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    printf("%08x %zu\n", crc(argv[i]), strlen(argv[i]));
  return argc & 1;
}
