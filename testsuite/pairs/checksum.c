// A function of a library, without main: --entry checksum. The new version takes four bytes at a time, and has them in
// another order.
#include <stddef.h>
#include <stdint.h>

uint32_t checksum(const uint8_t *data, size_t size);

#define STEP(value) (sum ^= (value), sum *= 16777619u)

uint32_t checksum(const uint8_t *data, size_t size) {
  uint32_t sum = 2166136261u;
#if V == 2
  for (; size >= 4; data += 4, size -= 4)
    for (int i = 3; i >= 0; i--)
      STEP(data[i]);
#endif
  for (size_t i = 0; i < size; i++)
    STEP(data[i]);
  return sum;
}
