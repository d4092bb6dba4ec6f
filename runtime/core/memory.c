/* Captures in KLEE: memory, in which symbolic bytes stay symbolic.
 *
 * Everything here works on eight bytes at a time where it can. KLEE makes one expression of them and the
 * bytes out of that again, which gives the same as byte by byte for an eighth of the instructions. */
#include "core.h"
#include <stdint.h>
#include <stdlib.h>

typedef uint64_t word __attribute__((may_alias, aligned(1)));
typedef uint32_t half __attribute__((may_alias, aligned(1)));

bool p3_is_captured_in_memory;

static void grow(struct p3_capture *capture, size_t wanted) {
  size_t capacity = capture->capacity ? capture->capacity : 256;
  while (capacity < wanted)
    capacity *= 2;
  char *bytes = realloc(capture->bytes, capacity);
  if (!bytes)
    p3_fatal("out of memory");
  capture->bytes = bytes;
  capture->capacity = capacity;
}

void p3_memory_copy(char *to, const char *from, size_t size) {
  for (; size >= sizeof(word); size -= sizeof(word), to += sizeof(word), from += sizeof(word))
    *(word *)to = *(const word *)from;
  if (size & sizeof(half)) {
    *(half *)to = *(const half *)from;
    to += sizeof(half), from += sizeof(half), size -= sizeof(half);
  }
  for (; size; size--)
    *to++ = *from++;
}

bool p3_memory_differs(const char *a, const char *b, size_t size) {
  bool differs = false;
  for (; size >= sizeof(word); size -= sizeof(word), a += sizeof(word), b += sizeof(word))
    differs |= *(const word *)a != *(const word *)b;
  if (size & sizeof(half)) {
    differs |= *(const half *)a != *(const half *)b;
    a += sizeof(half), b += sizeof(half), size -= sizeof(half);
  }
  for (; size; size--)
    differs |= *a++ != *b++;
  return differs;
}

void p3_memory_append(struct p3_capture *capture, const char *bytes, size_t size) {
  p3_is_captured_in_memory = true;
  size_t length = capture->length + size;
  if (length > capture->capacity)
    grow(capture, length);
  p3_memory_copy(capture->bytes + capture->length, bytes, size);
  capture->length = length;
}

bool p3_memory_write(int version, int fd, const struct iovec *parts, int count) {
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (!entry || entry->kind != P3_CAPTURE)
    return false;
  for (int i = 0; i < count; i++)
    p3_memory_append(&p3_captures[version][entry->stream], parts[i].iov_base, parts[i].iov_len);
  return true;
}
