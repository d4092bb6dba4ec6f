// Selects fields of lines, as cut does. The new version merges ranges that touch, and marks the end of the list
// with an entry that it has no room for when the list is full.
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NUMBER 99999
#define FIRST_CAPACITY 4

enum { OK = 0, FAILURE = 1, USAGE = 2 };

struct range {
  unsigned first, last; // from 1, both included
};

struct list {
  struct range *ranges;
  size_t count, capacity;
};

struct options {
  char delimiter;
  const char *output_delimiter; // NULL: the delimiter
  char line_end;
  bool complement;
  bool only_delimited;
  bool bytes;
};

static int complain(const char *message, const char *about) {
  if (about)
    fprintf(stderr, "cut: %s: '%s'\n", message, about);
  else
    fprintf(stderr, "cut: %s\n", message);
  return USAGE;
}

static bool add_range(struct list *list, unsigned first, unsigned last) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : FIRST_CAPACITY;
    struct range *ranges = realloc(list->ranges, capacity * sizeof *ranges);
    if (!ranges)
      return false;
    list->ranges = ranges;
    list->capacity = capacity;
  }
  list->ranges[list->count++] = (struct range){first, last};
  return true;
}

// Reads digits; returns where they end, or NULL if the number is too large.
static const char *read_number(const char *text, unsigned *number) {
  *number = 0;
  for (; *text >= '0' && *text <= '9'; text++) {
    *number = *number * 10 + (unsigned)(*text - '0');
    if (*number > MAX_NUMBER)
      return NULL;
  }
  return text;
}

// N, N-, -M or N-M, up to a comma or the end.
static const char *read_range(const char *text, struct range *range) {
  unsigned first = 0, last = 0;
  bool has_first = *text >= '0' && *text <= '9';
  const char *p = read_number(text, &first);
  if (!p)
    return NULL;
  if (*p != '-') {
    *range = (struct range){first, first};
    return has_first && first > 0 ? p : NULL;
  }
  p++;
  bool has_last = *p >= '0' && *p <= '9';
  p = read_number(p, &last);
  if (!p || (!has_first && !has_last))
    return NULL;
  if (!has_first)
    first = 1;
  if (!has_last)
    last = UINT_MAX;
  *range = (struct range){first, last};
  return first > 0 && first <= last ? p : NULL;
}

static int by_first(const void *a, const void *b) {
  const struct range *left = a, *right = b;
  if (left->first != right->first)
    return left->first < right->first ? -1 : 1;
  return left->last < right->last ? -1 : left->last > right->last;
}

#if V == 2
// Merges ranges that overlap or touch; they are in order. An entry that no number is in ends the list.
static void merge_ranges(struct list *list) {
  size_t kept = 0;
  for (size_t i = 1; i < list->count; i++) {
    struct range *current = &list->ranges[kept], *next = &list->ranges[i];
    if (current->last == UINT_MAX || next->first <= current->last + 1) {
      if (next->last > current->last)
        current->last = next->last;
    } else {
      list->ranges[++kept] = *next;
    }
  }
  list->count = kept + 1;
  list->ranges[list->count] = (struct range){UINT_MAX, 0};
}
#endif

static int read_list(const char *text, struct list *list) {
  const char *whole = text;
  for (;;) {
    struct range range;
    text = read_range(text, &range);
    if (!text || (*text && *text != ','))
      return complain("invalid list", whole);
    if (!add_range(list, range.first, range.last))
      return FAILURE;
    if (!*text)
      break;
    text++;
  }
  qsort(list->ranges, list->count, sizeof *list->ranges, by_first);
#if V == 2
  merge_ranges(list);
#endif
  return OK;
}

#if V == 1
static bool is_selected(const struct list *list, unsigned number) {
  for (size_t i = 0; i < list->count; i++)
    if (list->ranges[i].first <= number && number <= list->ranges[i].last)
      return true;
  return false;
}
#else
static bool is_selected(const struct list *list, unsigned number) {
  const struct range *range = list->ranges;
  while (range->last && range->last < number)
    range++;
  return range->last && range->first <= number;
}
#endif

static void cut_bytes(const char *line, size_t length, const struct list *list, const struct options *options) {
  for (size_t i = 0; i < length; i++)
    if (is_selected(list, (unsigned)i + 1) != options->complement)
      putchar(line[i]);
  putchar(options->line_end);
}

static void put_delimiter(const struct options *options) {
  if (options->output_delimiter)
    fputs(options->output_delimiter, stdout);
  else
    putchar(options->delimiter);
}

static void cut_fields(const char *line, size_t length, const struct list *list, const struct options *options) {
  if (!memchr(line, options->delimiter, length)) {
    if (!options->only_delimited) {
      fwrite(line, 1, length, stdout);
      putchar(options->line_end);
    }
    return;
  }
  bool any = false;
  unsigned number = 1;
  size_t start = 0;
  for (size_t i = 0; i <= length; i++) {
    if (i < length && line[i] != options->delimiter)
      continue;
    if (is_selected(list, number) != options->complement) {
      if (any)
        put_delimiter(options);
      fwrite(line + start, 1, i - start, stdout);
      any = true;
    }
    number++;
    start = i + 1;
  }
  putchar(options->line_end);
}

static void cut_stream(FILE *stream, const struct list *list, const struct options *options) {
  char *line = NULL;
  size_t capacity = 0, length = 0;
  int c;
  bool ended = false;
  while (!ended) {
    c = getc(stream);
    ended = c == EOF;
    if (ended && length == 0)
      break;
    if (ended || c == options->line_end) {
      if (options->bytes)
        cut_bytes(line ? line : "", length, list, options);
      else
        cut_fields(line ? line : "", length, list, options);
      length = 0;
      continue;
    }
    if (length == capacity) {
      capacity = capacity ? capacity * 2 : 16;
      char *larger = realloc(line, capacity);
      if (!larger)
        break;
      line = larger;
    }
    line[length++] = (char)c;
  }
  free(line);
}

static int usage(void) {
  fputs("usage: cut -f LIST [-d CHAR] [-o TEXT] [-s] [-c] [-z]\n"
        "       cut -b LIST [-c] [-z]\n"
        "LIST is N, N-, -M or N-M, and more of these behind commas.\n"
        "-s: only lines with a delimiter, -c: what LIST does not have, -z: lines end with NUL\n",
        stdout);
  return OK;
}

int main(int argc, char **argv) {
  struct options options = {.delimiter = '\t', .line_end = '\n'};
  const char *fields = NULL;
  for (int i = 1; i < argc; i++) {
    const char *argument = argv[i];
    if (argument[0] != '-' || !argument[1])
      return complain("extra operand", argument);
    const char *value = argument[2] ? argument + 2 : i + 1 < argc ? argv[i + 1] : NULL;
    switch (argument[1]) {
    case 'd':
    case 'f':
    case 'b':
    case 'o':
      if (!value)
        return complain("an option needs a value", argument);
      i += !argument[2];
      if (argument[1] == 'd') {
        if (!value[0] || value[1])
          return complain("the delimiter must be one character", value);
        options.delimiter = value[0];
        break;
      }
      if (argument[1] == 'o') {
        options.output_delimiter = value;
        break;
      }
      if (fields)
        return complain("only one list may be given", NULL);
      fields = value;
      options.bytes = argument[1] == 'b';
      break;
    case 's':
      options.only_delimited = true;
      break;
    case 'c':
      options.complement = true;
      break;
    case 'z':
      options.line_end = 0;
      break;
    case 'h':
      return usage();
    default:
      return complain("unknown option", argument);
    }
  }
  if (!fields)
    return complain("a list of fields is needed", NULL);
  if (options.bytes && (options.only_delimited || options.output_delimiter))
    return complain("only fields have delimiters", NULL);
  struct list list = {NULL, 0, 0};
  int status = read_list(fields, &list);
  if (status == OK)
    cut_stream(stdin, &list, &options);
  free(list.ranges);
  return status;
}
