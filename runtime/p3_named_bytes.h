/* Bytes that a program takes under names (pp_input, klee_make_symbolic) out of one string of bytes: which of them each
 * taking gets. core/marked.c and alone/input.c share this, so that versions get the same in a product and alone.
 *
 * A taking of a size under a name for the first time gets the bytes that nobody has yet; the next one of the same size
 * and name the next ones, and so on. Whoever goes through the list anew gets the same again, in whatever order it
 * takes them. P3_INPUT_NAMES is a file that hands the list on from one process to the next: "SIZE NAME" and a NUL for
 * each. */
#ifndef P3_NAMED_BYTES_H
#define P3_NAMED_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct p3_named {
  char *name;
  size_t size, at;
  bool taken; /* by this process */
};

struct p3_named_list {
  struct p3_named *all;
  size_t count, room;
  size_t first; /* all before it are taken */
  size_t end;   /* bytes that somebody has */
};

/* False: out of memory. */
static inline bool p3_named_add(struct p3_named_list *list, const char *name, size_t size, bool taken) {
  if (list->count == list->room) {
    size_t room = list->room ? list->room * 2 : 64;
    struct p3_named *more = realloc(list->all, room * sizeof *more);
    if (!more)
      return false;
    list->all = more;
    list->room = room;
  }
  size_t length = strlen(name) + 1;
  char *copy = malloc(length);
  if (!copy)
    return false;
  memcpy(copy, name, length);
  list->all[list->count++] = (struct p3_named){copy, size, list->end, taken};
  list->end += size;
  return true;
}

/* Reads what P3_INPUT_NAMES has; what is no list ends it. */
static inline bool p3_named_read(struct p3_named_list *list, const char *text, size_t length) {
  while (length) {
    const char *end = memchr(text, '\0', length);
    size_t size = 0, digits = 0;
    for (; text[digits] >= '0' && text[digits] <= '9'; digits++)
      size = size * 10 + (size_t)(text[digits] - '0');
    if (!end || !digits || text[digits] != ' ')
      break;
    if (!p3_named_add(list, text + digits + 1, size, false))
      return false;
    length -= (size_t)(end + 1 - text);
    text = end + 1;
  }
  return true;
}

/* Where the bytes of this taking begin. `is_new`: it is not in the list that was handed on. False: out of memory. */
static inline bool p3_named_take(struct p3_named_list *list, const char *name, size_t size, size_t *at, bool *is_new) {
  for (size_t i = list->first; i < list->count; i++) {
    struct p3_named *named = &list->all[i];
    if (named->taken || named->size != size || strcmp(named->name, name) != 0)
      continue;
    named->taken = true;
    while (list->first < list->count && list->all[list->first].taken)
      list->first++;
    *at = named->at;
    *is_new = false;
    return true;
  }
  *at = list->end;
  *is_new = true;
  if (!p3_named_add(list, name, size, true))
    return false;
  if (list->first + 1 == list->count)
    list->first++;
  return true;
}

/* What klee_range makes of any bytes; what KLEE chooses stays what it is. */
static inline int p3_named_in_range(int value, int begin, int end) {
  if (begin >= end || (begin <= value && value < end))
    return value;
  return (int)((unsigned)begin + (unsigned)value % ((unsigned)end - (unsigned)begin));
}

#endif
