/* Object stacks, per version: the part of <obstack.h> that is not macros.
 *
 * Only the handler for exhausted memory is state, but libc's functions would call libc's handler, which
 * ends the whole product. Chunks are laid out as libc does, since the macros know the layout. */
#include "p3v_libc.h"
#include <obstack.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int SHIM(obstack_exit_failure) = EXIT_FAILURE;

static void report_and_exit(void) {
  p3v_complain("%s\n", p3v_translate("memory exhausted"));
  SHIM(exit)(SHIM(obstack_exit_failure));
}

void (*SHIM(obstack_alloc_failed_handler))(void) = report_and_exit;

/* The smallest alignment that suits every object, and what fits a 4096-byte page of malloc. */
#define DEFAULT_ALIGNMENT 16
#define DEFAULT_CHUNK 4064

static struct _obstack_chunk *get_chunk(struct obstack *stack, size_t size) {
  if (stack->use_extra_arg)
    return stack->chunkfun(stack->extra_arg, (long)size);
  return ((struct _obstack_chunk * (*)(long)) stack->chunkfun)((long)size);
}

static void drop_chunk(struct obstack *stack, struct _obstack_chunk *chunk) {
  if (stack->use_extra_arg)
    stack->freefun(stack->extra_arg, chunk);
  else
    ((void (*)(struct _obstack_chunk *))stack->freefun)(chunk);
}

static char *align(struct obstack *stack, char *place) {
  uintptr_t mask = (uintptr_t)stack->alignment_mask;
  return place + (-(uintptr_t)place & mask);
}

static void begin_chunk(struct obstack *stack, struct _obstack_chunk *chunk, size_t size) {
  stack->chunk = chunk;
  stack->chunk_limit = chunk->limit = (char *)chunk + size;
}

static int begin(struct obstack *stack, int size, int alignment) {
  if (alignment == 0)
    alignment = DEFAULT_ALIGNMENT;
  if (size == 0)
    size = DEFAULT_CHUNK;
  stack->chunk_size = size;
  stack->alignment_mask = alignment - 1;
  struct _obstack_chunk *chunk = get_chunk(stack, (size_t)size);
  if (!chunk) {
    SHIM(obstack_alloc_failed_handler)();
    return 0;
  }
  begin_chunk(stack, chunk, (size_t)size);
  chunk->prev = NULL;
  stack->object_base = stack->next_free = align(stack, chunk->contents);
  stack->maybe_empty_object = 0;
  stack->alloc_failed = 0;
  return 1;
}

int SHIM(_obstack_begin)(struct obstack *stack, int size, int alignment, void *(*allocate)(long),
                         void (*release)(void *)) {
  stack->chunkfun = (struct _obstack_chunk * (*)(void *, long)) allocate;
  stack->freefun = (void (*)(void *, struct _obstack_chunk *))release;
  stack->use_extra_arg = 0;
  return begin(stack, size, alignment);
}

int SHIM(_obstack_begin_1)(struct obstack *stack, int size, int alignment, void *(*allocate)(void *, long),
                           void (*release)(void *, void *), void *argument) {
  stack->chunkfun = (struct _obstack_chunk * (*)(void *, long)) allocate;
  stack->freefun = (void (*)(void *, struct _obstack_chunk *))release;
  stack->extra_arg = argument;
  stack->use_extra_arg = 1;
  return begin(stack, size, alignment);
}

/* Moves the object that grows into a new chunk with room for `length` more bytes. */
void SHIM(_obstack_newchunk)(struct obstack *stack, int length) {
  struct _obstack_chunk *old = stack->chunk;
  size_t used = (size_t)(stack->next_free - stack->object_base);
  size_t size = used + (size_t)length + (used >> 3) + (size_t)stack->alignment_mask + 100;
  if (size < (size_t)stack->chunk_size)
    size = (size_t)stack->chunk_size;
  struct _obstack_chunk *chunk = get_chunk(stack, size);
  if (!chunk) {
    SHIM(obstack_alloc_failed_handler)();
    return;
  }
  begin_chunk(stack, chunk, size);
  chunk->prev = old;
  char *base = align(stack, chunk->contents);
  memcpy(base, stack->object_base, used);
  /* The old chunk goes if it held nothing else. */
  if (!stack->maybe_empty_object && stack->object_base == align(stack, old->contents)) {
    chunk->prev = old->prev;
    drop_chunk(stack, old);
  }
  stack->object_base = base;
  stack->next_free = base + used;
  stack->maybe_empty_object = 0;
}

static bool holds(const struct _obstack_chunk *chunk, const void *object) {
  return (const char *)chunk < (const char *)object && (const char *)object <= chunk->limit;
}

int SHIM(_obstack_allocated_p)(struct obstack *stack, void *object) {
  for (struct _obstack_chunk *chunk = stack->chunk; chunk; chunk = chunk->prev)
    if (holds(chunk, object))
      return 1;
  return 0;
}

/* Frees `object` and what was allocated after it; everything for a null pointer. */
void SHIM(_obstack_free)(struct obstack *stack, void *object) {
  struct _obstack_chunk *chunk = stack->chunk;
  while (chunk && !holds(chunk, object)) {
    struct _obstack_chunk *previous = chunk->prev;
    drop_chunk(stack, chunk);
    chunk = previous;
    /* Whether the chunk reached now ends in an empty object cannot be known. */
    stack->maybe_empty_object = 1;
  }
  if (chunk) {
    stack->object_base = stack->next_free = object;
    stack->chunk_limit = chunk->limit;
    stack->chunk = chunk;
  } else if (object) {
    SHIM(abort)();
  }
}

void SHIM(obstack_free)(struct obstack *stack, void *object) { SHIM(_obstack_free)(stack, object); }

int SHIM(_obstack_memory_used)(struct obstack *stack) {
  size_t bytes = 0;
  for (struct _obstack_chunk *chunk = stack->chunk; chunk; chunk = chunk->prev)
    bytes += (size_t)(chunk->limit - (char *)chunk);
  return (int)bytes;
}

int SHIM(obstack_vprintf)(struct obstack *stack, const char *format, va_list args) {
  char *text;
  int length = vasprintf(&text, format, args);
  if (length < 0)
    return -1;
  if (stack->chunk_limit - stack->next_free < length)
    SHIM(_obstack_newchunk)(stack, length);
  memcpy(stack->next_free, text, (size_t)length);
  stack->next_free += length;
  free(text);
  return length;
}

int SHIM(obstack_printf)(struct obstack *stack, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = SHIM(obstack_vprintf)(stack, format, args);
  va_end(args);
  return length;
}

/* What glibc's headers call for checked formats. */
int SHIM(__obstack_vprintf_chk)(struct obstack *stack, int flag, const char *format, va_list args) {
  (void)flag;
  return SHIM(obstack_vprintf)(stack, format, args);
}

int SHIM(__obstack_printf_chk)(struct obstack *stack, int flag, const char *format, ...) {
  (void)flag;
  va_list args;
  va_start(args, format);
  int length = SHIM(obstack_vprintf)(stack, format, args);
  va_end(args);
  return length;
}
