/* Arguments from a string of bytes.
 *
 * First everything of a fixed size takes its bytes, in the order of the parameters; where they are at their end
 * zeros follow. Then come buffers and strings: a string ends at a NUL, a buffer begins with two bytes that say how
 * many objects it has (least significant first), and the last of all goes to the end. Nothing here depends on the
 * values, so that symbolic ones cause no forks. */
#include "entry.h"
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) void klee_assume(uintptr_t condition);

enum { MORE = 256, MORE_IN_KLEE = 16 }; /* what a function may append to a string */

static bool in_klee;
static size_t parts_left;

/* What is made is called like in C, in KLEE only: b.count, list[3].x. */
static char path[512];
static size_t path_length;

static void append(const char *text) {
  while (*text && path_length < sizeof path - 1)
    path[path_length++] = *text++;
  path[path_length] = 0;
}

static size_t enter(const struct p3_shape *shape, size_t index) {
  size_t before = path_length;
  if (!in_klee)
    return before;
  if (shape) {
    append(path_length && *shape->name ? "." : "");
    append(shape->name);
    return before;
  }
  char digits[24], *at = digits + sizeof digits - 1;
  *at = 0;
  do
    *--at = (char)('0' + index % 10);
  while (index /= 10);
  append("[");
  append(at);
  append("]");
  return before;
}

static void leave(size_t before) {
  path_length = before;
  path[before] = 0;
}

static void take(void *to, size_t size) {
  if (in_klee) {
    p3_entry_symbolic(to, size, path);
    return;
  }
  size_t there = size < p3_entry_left ? size : p3_entry_left;
  memset(to, 0, size);
  memcpy(to, p3_entry_bytes, there);
  p3_entry_bytes += there;
  p3_entry_left -= there;
}

static char *allocate(struct p3_call *call, const struct p3_shape *shape, size_t objects, size_t more) {
  size_t size = shape->kind == P3_STRING ? 1 : shape->children->size;
  char *at = calloc(1, (objects + more) * size ? (objects + more) * size : 1);
  if (!at)
    abort();
  if (call->block_count < sizeof call->blocks / sizeof *call->blocks)
    call->blocks[call->block_count++] = (struct p3_block){at, (objects + more) * size, objects, shape, shape->name};
  return at;
}

/* ---- what has a fixed size ---- */

static uint64_t load(const char *at, size_t size) {
  uint64_t value = 0;
  memcpy(&value, at, size < sizeof value ? size : sizeof value);
  return value;
}

static void take_bit_field(const struct p3_shape *shape, char *at) {
  uint64_t value = 0;
  take(&value, (shape->bits + 7) / 8);
  for (uint32_t i = 0; i < shape->bits; i++) {
    uint32_t bit = shape->shift + i;
    unsigned char *byte = (unsigned char *)at + bit / 8;
    *byte = (unsigned char)((*byte & ~(1u << bit % 8)) | (unsigned)(value >> i & 1) << bit % 8);
  }
}

static void take_enumerator(const struct p3_shape *shape, char *at) {
  uint8_t choice = 0;
  take(&choice, 1);
  int64_t value = shape->enumerators[choice % shape->count].value;
  memcpy(at, &value, shape->size);
}

static void take_flags(const struct p3_shape *shape, char *at) {
  uint64_t value = 0, known = 0;
  for (size_t i = 0; i < shape->count; i++)
    known |= (uint64_t)shape->enumerators[i].value;
  take(&value, shape->size);
  value &= known;
  memcpy(at, &value, shape->size);
}

static void take_float(const struct p3_shape *shape, char *at) {
  if (shape->size <= sizeof(double)) {
    take(at, shape->size);
    return;
  }
  /* Not all bytes are one. */
  double value = 0;
  take(&value, sizeof value);
  long double wide = value;
  memcpy(at, &wide, sizeof wide);
}

static bool is_plain(const struct p3_shape *shape) {
  return (shape->kind == P3_INTEGER || shape->kind == P3_RAW ||
          (shape->kind == P3_FLOAT && shape->size <= sizeof(double))) &&
         !shape->bits;
}

static void fill(struct p3_call *call, const struct p3_shape *shape, char *base);

static void fill_all(struct p3_call *call, const struct p3_shape *element, char *at, size_t count) {
  if (is_plain(element)) {
    take(at, element->size * count);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    size_t before = enter(NULL, i);
    fill(call, element, at + i * element->size);
    leave(before);
  }
}

/* base: what the shape is a part of. */
static void fill(struct p3_call *call, const struct p3_shape *shape, char *base) {
  char *at = base + shape->offset, *block;
  size_t before = enter(shape, 0);
  switch (shape->kind) {
  case P3_INTEGER:
  case P3_RAW:
    if (shape->bits)
      take_bit_field(shape, at);
    else
      take(at, shape->size);
    break;
  case P3_BOOL:
    if (shape->bits) {
      take_bit_field(shape, at);
    } else {
      take(at, 1);
      *at &= 1;
    }
    break;
  case P3_FLOAT:
    take_float(shape, at);
    break;
  case P3_ENUM:
    take_enumerator(shape, at);
    break;
  case P3_FLAGS:
    take_flags(shape, at);
    break;
  case P3_STRUCT:
    for (size_t i = 0; i < shape->count; i++)
      fill(call, &shape->children[i], at);
    break;
  case P3_ARRAY:
    fill_all(call, shape->children, at, shape->count);
    /* Most functions take an array of characters for a string. */
    if (shape->flags & P3_CHARACTERS && shape->count)
      at[shape->count - 1] = 0;
    break;
  case P3_POINTER:
    block = allocate(call, shape, 1, 0);
    memcpy(at, &block, sizeof block);
    fill(call, shape->children, block);
    break;
  }
  leave(before);
}

/* ---- buffers and strings ---- */

/* The bytes that an object takes of the input. */
static size_t cost(const struct p3_shape *shape) {
  size_t sum = 0;
  switch (shape->kind) {
  case P3_BOOL:
  case P3_INTEGER:
  case P3_RAW:
    return shape->bits ? (shape->bits + 7) / 8 : shape->size;
  case P3_FLOAT:
    return shape->size < sizeof(double) ? shape->size : sizeof(double);
  case P3_ENUM:
    return 1;
  case P3_FLAGS:
    return shape->size;
  case P3_STRUCT:
    for (size_t i = 0; i < shape->count; i++)
      sum += cost(&shape->children[i]);
    return sum;
  case P3_ARRAY:
    return shape->count * cost(shape->children);
  default:
    return 0;
  }
}

static char *length_of(const struct p3_shape *buffer, const struct p3_shape *parent, char *base,
                       const struct p3_shape **length) {
  *length = &parent->children[buffer->partner];
  char *at = base + (*length)->offset;
  if (!(buffer->flags & P3_THROUGH))
    return at;
  char *there;
  memcpy(&there, at, sizeof there);
  *length = (*length)->children;
  return there;
}

/* How many objects the buffer has, and those that follow it in this. */
static size_t decide(const struct p3_shape *buffer, const struct p3_shape *parent,
                     const struct p3_shape *length) {
  size_t most = SIZE_MAX, bits = 8 * length->size - (length->flags & P3_SIGNED ? 1 : 0);
  if (bits < 64)
    most = ((size_t)1 << bits) - 1;
  bool is_last = --parts_left == 0;
  size_t each = 0;
  for (size_t i = 0; i < parent->count; i++) {
    const struct p3_shape *other = &parent->children[i];
    if (other->kind == P3_BUFFER && other->partner == buffer->partner)
      each += cost(other->children);
  }
  size_t there = p3_entry_left / (each ? each : 1), wanted = there;
  if (!is_last) {
    uint8_t bytes[2];
    take(bytes, sizeof bytes);
    wanted = bytes[0] | (size_t)bytes[1] << 8;
    there = p3_entry_left / (each ? each : 1);
  }
  wanted = wanted < there ? wanted : there;
  return wanted < most ? wanted : most;
}

static void take_buffer(struct p3_call *call, const struct p3_shape *shape, const struct p3_shape *parent,
                        char *base) {
  const struct p3_shape *length;
  char *length_at = length_of(shape, parent, base, &length), *block;
  size_t objects, more = shape->flags & P3_TERMINATED ? 1 : 0;
  if (shape->flags & P3_FOLLOWS) {
    objects = load(length_at, length->size);
    if (in_klee)
      objects = p3_entry_settle(objects);
  } else {
    uint64_t value = 0;
    size_t bytes = length->size < sizeof value ? length->size : sizeof value;
    if (in_klee) {
      size_t before = enter(&parent->children[shape->partner], 0);
      p3_entry_symbolic(&value, bytes, path);
      leave(before);
      objects = p3_entry_settle(value);
    } else {
      value = objects = decide(shape, parent, length);
    }
    memcpy(length_at, &value, bytes);
  }
  block = allocate(call, shape, objects, more);
  size_t before = enter(shape, 0);
  fill_all(call, shape->children, block, objects);
  leave(before);
  memcpy(base + shape->offset, &block, sizeof block);
}

/* A string may be shorter than the memory for it, unless that is exact: then it ends where that does. */
static char *take_symbolic_string(struct p3_call *call, const struct p3_shape *shape, size_t more) {
  size_t length = p3_entry_room;
  bool is_whole = true;
  if (p3_entry_is_exact()) {
    size_t before = path_length;
    append(".length");
    p3_entry_symbolic(&length, sizeof length, path);
    leave(before);
    length = p3_entry_settle(length);
  }
  char *block = allocate(call, shape, length + 1, more);
  take(block, length);
  if (p3_entry_is_exact()) {
    for (size_t i = 0; i < length; i++)
      is_whole &= block[i] != 0;
    klee_assume(is_whole);
  }
  return block;
}

static void take_string(struct p3_call *call, const struct p3_shape *shape, char *base) {
  bool is_constant = shape->flags & P3_CONSTANT, is_last = --parts_left == 0;
  char *block;
  size_t before = enter(shape, 0);
  if (in_klee) {
    block = take_symbolic_string(call, shape, is_constant ? 0 : MORE_IN_KLEE);
  } else {
    const uint8_t *end = p3_entry_left ? memchr(p3_entry_bytes, 0, p3_entry_left) : NULL;
    size_t length = end ? (size_t)(end - p3_entry_bytes) : p3_entry_left;
    block = allocate(call, shape, length + 1, is_constant ? 0 : MORE);
    take(block, length);
    if (end && !is_last)
      take(&(char){0}, 1);
  }
  leave(before);
  memcpy(base + shape->offset, &block, sizeof block);
}

static void fill_pointers(struct p3_call *call, const struct p3_shape *shape, const struct p3_shape *parent,
                          char *base) {
  char *at = base + shape->offset;
  size_t before = path_length;
  switch (shape->kind) {
  case P3_STRUCT:
    before = enter(shape, 0);
    for (size_t i = 0; i < shape->count; i++)
      fill_pointers(call, &shape->children[i], shape, at);
    break;
  case P3_ARRAY:
    before = enter(shape, 0);
    for (size_t i = 0; i < shape->count; i++) {
      size_t outside = enter(NULL, i);
      fill_pointers(call, shape->children, shape, at + i * shape->children->size);
      leave(outside);
    }
    break;
  case P3_POINTER: {
    char *there;
    memcpy(&there, at, sizeof there);
    before = enter(shape, 0);
    fill_pointers(call, shape->children, shape, there);
    break;
  }
  case P3_BUFFER:
    take_buffer(call, shape, parent, base);
    break;
  case P3_STRING:
    take_string(call, shape, base);
    break;
  }
  leave(before);
}

void p3_entry_take(struct p3_call *call) {
  in_klee = p3_entry_in_klee();
  parts_left = call->signature->parts;
  leave(0);
  fill(call, call->signature->parameters, call->frame);
  fill_pointers(call, call->signature->parameters, NULL, call->frame);
}
