/* The same results as in show.c as plain bytes: in KLEE they may be symbolic, and text made of them would fork for
 * every digit. */
#include "entry.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct p3_call *call;
static char *bytes;
static size_t count, room;

static void put(const void *from, size_t size) {
  if (count + size > room) {
    room = 2 * (count + size);
    bytes = realloc(bytes, room);
    if (!bytes)
      abort();
  }
  memcpy(bytes + count, from, size);
  count += size;
}

static void put_value(const struct p3_shape *shape, const char *base);

static void put_list(const struct p3_shape *element, const char *at, size_t elements) {
  for (size_t i = 0; i < elements; i++)
    put_value(element, at + i * element->size);
}

/* Which block, how far in it, or that it is null or elsewhere; then what is there. */
static void put_pointer(const struct p3_shape *shape, const char *pointer, bool follow) {
  const struct p3_block *block = pointer ? p3_entry_block_of(call, pointer) : NULL;
  uint64_t where[2] = {pointer != NULL, 0};
  if (block) {
    where[0] = 2 + (uint64_t)(block - call->blocks);
    where[1] = (uint64_t)(pointer - block->at);
  }
  put(where, sizeof where);
  if (block && pointer == block->at && block->shape == shape) {
    if (shape->kind == P3_STRING)
      put(block->at, block->size);
    else
      put_list(shape->children, block->at, shape->kind == P3_POINTER ? 1 : block->count);
  } else if (pointer && !block && follow) {
    if (shape->flags & P3_CHARACTERS)
      put(pointer, strlen(pointer));
    else if (shape->children)
      put_value(shape->children, pointer);
  }
}

static const char *pointer_at(const char *at) {
  const char *pointer;
  memcpy(&pointer, at, sizeof pointer);
  return pointer;
}

static void put_bits(const struct p3_shape *shape, const char *at) {
  for (uint32_t i = 0; i < shape->bits; i++) {
    uint32_t bit = shape->shift + i;
    char value = (char)((unsigned char)at[bit / 8] >> bit % 8 & 1);
    put(&value, 1);
  }
}

static void put_value(const struct p3_shape *shape, const char *base) {
  const char *at = base + shape->offset;
  switch (shape->kind) {
  case P3_STRUCT:
    for (size_t i = 0; i < shape->count; i++)
      put_value(&shape->children[i], at);
    break;
  case P3_ARRAY:
    put_list(shape->children, at, shape->count);
    break;
  case P3_POINTER:
  case P3_BUFFER:
  case P3_STRING:
  case P3_ADDRESS:
    put_pointer(shape, pointer_at(at), (shape->flags & P3_STRINGS) != 0);
    break;
  case P3_FLOAT:
    /* A long double has bytes that mean nothing. */
    put(at, shape->size < 10 ? shape->size : 10);
    break;
  default:
    if (shape->bits)
      put_bits(shape, at);
    else
      put(at, shape->size);
  }
}

void p3_entry_put_results(const struct p3_call *made) {
  const struct p3_shape *parameters = made->signature->parameters, *result = made->signature->result;
  call = made;
  count = 0;
  if (result && result->kind == P3_ADDRESS)
    put_pointer(result, pointer_at(made->frame + result->offset), true);
  else if (result)
    put_value(result, made->frame);
  for (size_t i = 0; i < parameters->count; i++)
    if (parameters->children[i].flags & P3_SHOWN)
      put_value(&parameters->children[i], made->frame);
  fflush(stdout);
  (void)!write(STDOUT_FILENO, bytes, count);
}
