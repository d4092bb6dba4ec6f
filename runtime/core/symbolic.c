/* Values that versions make symbolic: the first version that asks for one creates it, the others get the same.
 *
 * Versions ask by name and size. One that asks for the same again gets another value, which again is the same in
 * all versions; so the order in which a version asks does not matter as long as names differ. */
#include "core.h"
#include <stdlib.h>
#include <string.h>

struct symbol {
  struct symbol *next;
  unsigned takers; /* bit i: version i has it */
  size_t size;
  char *name, *bytes;
};

/* In the order of their creation. */
static struct symbol *symbols, **last = &symbols;

bool p3_symbolic_take(int version, void *object, size_t size, const char *name) {
  for (struct symbol *symbol = symbols; symbol; symbol = symbol->next)
    if (!(symbol->takers >> version & 1) && symbol->size == size && strcmp(symbol->name, name) == 0) {
      symbol->takers |= 1u << version;
      p3_memory_copy(object, symbol->bytes, size);
      return true;
    }
  return false;
}

void p3_symbolic_add(int version, const void *object, size_t size, const char *name) {
  size_t length = strlen(name) + 1;
  struct symbol *symbol = malloc(sizeof *symbol + length + size);
  if (!symbol)
    p3_fatal("out of memory");
  char *text = (char *)(symbol + 1);
  *symbol = (struct symbol){.takers = 1u << version, .size = size, .name = text, .bytes = text + length};
  p3_memory_copy(symbol->name, name, length);
  p3_memory_copy(symbol->bytes, object, size);
  *last = symbol;
  last = &symbol->next;
}
