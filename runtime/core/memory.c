/* Captures in KLEE: memory, in which symbolic bytes stay symbolic.
 *
 * KLEE comes here on every path, so instructions count. Everything works on eight bytes at a time where it can: KLEE
 * makes one expression of them and the bytes out of that again, which gives the same as byte by byte for an eighth of
 * the instructions. */
#include "memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256

bool p3_is_captured_in_memory;

__attribute__((noinline)) void p3_memory_grow(struct p3_capture *capture, size_t wanted) {
  size_t capacity = capture->capacity ? capture->capacity : FIRST_CAPACITY;
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
  /* At places that are constants, even if the size is symbolic. */
  switch (size) {
  case 7:
    *(half *)(to + 3) = *(const half *)(from + 3);
    *(half *)to = *(const half *)from;
    break;
  case 6:
    *(quarter *)(to + 4) = *(const quarter *)(from + 4);
    *(half *)to = *(const half *)from;
    break;
  case 5:
    to[4] = from[4];
    *(half *)to = *(const half *)from;
    break;
  case 4:
    *(half *)to = *(const half *)from;
    break;
  case 3:
    to[2] = from[2];
    *(quarter *)to = *(const quarter *)from;
    break;
  case 2:
    *(quarter *)to = *(const quarter *)from;
    break;
  case 1:
    *to = *from;
    break;
  }
}

#define DIFFER(type, at) (*(const type *)(a + at) != *(const type *)(b + at))

bool p3_memory_differs(const char *a, const char *b, size_t size) {
  int differs = 0;
  for (; size >= sizeof(word); size -= sizeof(word), a += sizeof(word), b += sizeof(word))
    differs |= DIFFER(word, 0);
  switch (size) {
  case 7:
    return differs | DIFFER(half, 0) | DIFFER(half, 3);
  case 6:
    return differs | DIFFER(half, 0) | DIFFER(quarter, 4);
  case 5:
    return differs | DIFFER(half, 0) | DIFFER(char, 4);
  case 4:
    return differs | DIFFER(half, 0);
  case 3:
    return differs | DIFFER(quarter, 0) | DIFFER(char, 2);
  case 2:
    return differs | DIFFER(quarter, 0);
  case 1:
    return differs | DIFFER(char, 0);
  }
  return differs;
}

void p3_memory_append(struct p3_capture *capture, const char *bytes, size_t size) {
  p3_is_captured_in_memory = true;
  size_t length = capture->length + size;
  if (length > capture->capacity)
    p3_memory_grow(capture, length);
  p3_memory_copy(capture->bytes + capture->length, bytes, size);
  capture->length = length;
}

/* ---- what stdio has not written ----
 *
 * Most programs end by exit, and then it is. So it stands in the capture at once and no path pays for it: only where a
 * version ends otherwise, or writes to the descriptor itself, is it found out how far stdio would have come. That is not
 * exact for buffers of less than 128 bytes, which glibc fills only with what comes in small pieces. */

/* Of files and pipes: st_blksize. */
#define BUFFER 4096

static size_t written(const struct p3_capture *capture) {
  size_t at = capture->length, size = capture->buffer ? capture->buffer : BUFFER;
  if (capture->buffering == _IONBF || at == capture->flushed)
    return at;
  /* A full buffer is written when there is more. */
  size_t full = capture->flushed + (at - capture->flushed - 1) / size * size;
  if (capture->buffering != _IOLBF)
    return full;
  while (at > full && capture->bytes[at - 1] != '\n')
    at--;
  return at;
}

void p3_memory_insert(struct p3_capture *capture, const char *bytes, size_t size) {
  size_t at = written(capture), pending = capture->length - at;
  p3_memory_append(capture, bytes, size);
  if (pending) {
    memmove(capture->bytes + at + size, capture->bytes + at, pending);
    p3_memory_copy(capture->bytes + at, bytes, size);
  }
  capture->flushed = at + size;
}

void p3_fd_write_buffered(int version, int fd, const char *bytes, size_t size) {
  struct p3_entry *entry = p3_fd_entry(version, fd);
  if (entry && entry->kind == P3_CAPTURE && p3_captures[version][fd].buffering != _IONBF)
    p3_memory_append(&p3_captures[version][entry->stream], bytes, size);
  else
    p3_fd_write(version, fd, bytes, size);
}

void p3_memory_flush(int version, int stream) {
  struct p3_capture *capture = &p3_captures[version][stream];
  capture->flushed = capture->length;
}

void p3_memory_buffering(int version, int stream, int kind, size_t size) {
  struct p3_capture *capture = &p3_captures[version][stream];
  if (size || kind == _IONBF) {
    capture->flushed = capture->length;
    capture->buffer = size;
  }
  capture->buffering = kind;
}

void p3_memory_lose(int version) {
  for (int stream = 1; stream <= 2; stream++)
    p3_captures[version][stream].length = written(&p3_captures[version][stream]);
}

/* There is memory before paths part, so that not each of them has to get some. */
void p3_memory_begin(int version, int stream) {
  p3_memory_grow(&p3_captures[version][stream], FIRST_CAPACITY);
  if (stream == 2)
    p3_captures[version][stream].buffering = _IONBF;
  p3_states[version].direct[stream] = p3_states[version].files[stream];
}

bool p3_memory_close(int version, int stream) {
  struct p3_entry *entry = &p3_first_entries[version][stream];
  if (entry->kind != P3_CAPTURE)
    return false;
  *entry = (struct p3_entry){.real = -1};
  p3_states[version].direct[stream] = P3_NO_FILE;
  return true;
}

bool p3_memory_put(int version, FILE *file, char byte) {
  P3_CAPTURE_BEHIND(version, file, false);
  p3_is_captured_in_memory = true;
  size_t length = capture->length;
  if (length == capture->capacity)
    p3_memory_grow(capture, length + 1);
  capture->bytes[length] = byte;
  capture->length = length + 1;
  return true;
}

bool p3_memory_write(int version, FILE *file, const char *bytes, size_t size) {
  P3_CAPTURE_BEHIND(version, file, false);
  p3_memory_append(capture, bytes, size);
  return true;
}
