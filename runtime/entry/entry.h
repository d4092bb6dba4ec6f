/* What stands in for a program's main when versions are libraries: a driver that makes one call of a function out of
 * a string of bytes and shows what the call did.
 *
 * It is linked into each version like a part of the program, so it reads and writes as programs do, and a version
 * that is built alone gets the same. The entry pass makes the tables below from debug info, and a main that calls
 * these functions in turn. */
#ifndef P3_ENTRY_H
#define P3_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers are also in passes/src/entry/shape.rs. */
enum p3_shape_kind {
  P3_INTEGER,
  P3_BOOL,
  P3_FLOAT,
  P3_ENUM,    /* one of the enumerators */
  P3_FLAGS,   /* any of them, or'ed */
  P3_RAW,     /* bytes that mean nothing in particular (unions) */
  P3_STRUCT,  /* children: the members */
  P3_ARRAY,   /* children: the element */
  P3_POINTER, /* to one object; children: that */
  P3_BUFFER,  /* to as many objects as the partner says; children: one */
  P3_STRING,  /* to characters up to a NUL */
  P3_LENGTH,  /* an integer that is the number of objects of one or more buffers */
  P3_ADDRESS, /* a pointer that begins as null; children, if there are any: what it may point to later */
};

enum {
  P3_SIGNED = 1,
  P3_CHARACTERS = 2, /* is shown as text, or points to such */
  P3_CONSTANT = 4,   /* the function does not write there */
  P3_TERMINATED = 8, /* one object of zeros more stands behind the buffer */
  P3_SHOWN = 16,     /* is shown after the call */
  P3_FOLLOWS = 32,   /* the partner's value is decided by an earlier buffer */
  P3_THROUGH = 64,   /* the length is what the partner, a pointer, points to */
  P3_STRINGS = 128,  /* the function may put a string of its own there */
};

struct p3_enumerator {
  int64_t value;
  const char *name;
};

struct p3_shape {
  uint32_t kind, flags;
  uint64_t offset, size;     /* in bytes, in what it is part of */
  uint32_t bits, shift;      /* of a bit-field: width and place in the byte at offset; 0: none */
  uint64_t count;            /* of children, enumerators or elements */
  uint64_t partner;          /* a buffer's length: which of its siblings */
  const char *name;
  const struct p3_shape *children;
  const struct p3_enumerator *enumerators;
};

struct p3_signature {
  const char *name;
  uint64_t frame;                    /* bytes that all parameters and the result take */
  uint64_t parts;                    /* buffers and strings whose lengths the bytes decide */
  const struct p3_shape *parameters; /* one structure */
  const struct p3_shape *result;     /* null: void */
};

/* Memory that a pointer among the arguments points to. */
struct p3_block {
  char *at;
  size_t size, count;
  const struct p3_shape *shape; /* the pointer's */
  const char *name;
};

struct p3_call {
  const struct p3_signature *signature;
  char *frame;
  struct p3_block blocks[256];
  size_t block_count;
};

/* Natively the bytes are read from the files that the arguments name, or from standard input. In KLEE every
 * argument is symbolic, under its own name; -size=N says how many objects a buffer or a string has at most. There is
 * memory for so many in any case, and the length is symbolic; with -exact each length has a path of its own and memory
 * of just that size, as natively. */
bool p3_entry_in_klee(void);
bool p3_entry_in_harness(void);

/* The next string of bytes; false: there is none any more. */
bool p3_entry_next(void);
extern const uint8_t *p3_entry_bytes;
extern size_t p3_entry_left;
extern size_t p3_entry_room;

/* take.c: makes the arguments. */
void p3_entry_take(struct p3_call *call);
void p3_entry_symbolic(void *to, size_t size, const char *name);
/* In KLEE, the number of objects for which there is memory. */
size_t p3_entry_settle(size_t length);
bool p3_entry_is_exact(void);

/* show.c: writes them for people, and what the call changed. */
void p3_entry_show_arguments(const struct p3_call *call);
void p3_entry_show_results(const struct p3_call *call);

/* raw.c: writes that as bytes that may be symbolic. */
void p3_entry_put_results(const struct p3_call *call);

/* The block that a pointer points into, or to the end of. */
const struct p3_block *p3_entry_block_of(const struct p3_call *call, const void *pointer);

#endif
