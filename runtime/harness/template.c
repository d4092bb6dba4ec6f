/* How the fuzzer's bytes become arguments, files and standard input (P3_TEMPLATE).
 *
 * Words separated by blanks, double quotes keep blanks. `@arg:N`, `@args:MIN-MAX:N`, `@file[:N]`, `@stdin[:N]`,
 * `@input[:N]`; other words are arguments as they are. An argument takes bytes up to a NUL, which is consumed, or N bytes and a
 * NUL right behind them. Then the streams: each but the last has two bytes of length in front of it. The same
 * decoder stands in hunt/src/template.rs; testsuite/template-vectors.json holds both to one meaning. */
#include "harness.h"
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (1u << 20)

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

static size_t number(const char *text, const char **end, const char *word) {
  size_t value = 0;
  *end = text;
  for (; **end >= '0' && **end <= '9' && value <= MOST_BYTES; ++*end)
    value = value * 10 + (size_t)(**end - '0');
  if (*end == text || value > MOST_BYTES)
    p3_fatal("P3_TEMPLATE: %s: expected a number up to %u", word, MOST_BYTES);
  return value;
}

static bool begins(const char *word, const char *with, const char **rest) {
  size_t length = strlen(with);
  *rest = word + length;
  return strncmp(word, with, length) == 0;
}

static struct p3_word parse(char *word) {
  const char *rest;
  struct p3_word parsed = {.kind = P3_LITERAL, .text = word, .size = P3_DEFAULT_SIZE};
  if (*word != '@')
    return parsed;
  if (begins(word, "@arg:", &rest)) {
    parsed.kind = P3_ARG;
    parsed.size = number(rest, &rest, word);
  } else if (begins(word, "@args:", &rest)) {
    parsed.kind = P3_ARGS;
    parsed.min = number(rest, &rest, word);
    bool is_range = *rest == '-';
    if (is_range)
      parsed.max = number(rest + 1, &rest, word);
    if (!is_range || parsed.max < parsed.min || *rest != ':')
      p3_fatal("P3_TEMPLATE: %s: expected @args:MIN-MAX:N", word);
    parsed.size = number(rest + 1, &rest, word);
  } else if (begins(word, "@file", &rest) || begins(word, "@stdin", &rest) || begins(word, "@input", &rest)) {
    parsed.kind = word[1] == 'f' ? P3_FILE : word[1] == 's' ? P3_STDIN : P3_MARKED;
    if (*rest == ':')
      parsed.size = number(rest + 1, &rest, word);
  } else {
    rest = word;
  }
  if (*rest)
    p3_fatal("P3_TEMPLATE: %s: expected @arg:N, @args:MIN-MAX:N, @file, @file:N, @stdin, @stdin:N, @input or @input:N",
             word);
  return parsed;
}

void p3_template_parse(struct p3_template *template, const char *text) {
  char *copy = malloc(strlen(text) + 1), *to = copy;
  if (!copy)
    p3_fatal("out of memory");
  size_t inputs = 0, marked = 0, arguments = 0;
  for (template->count = 0; *text;) {
    if (is_blank(*text)) {
      text++;
      continue;
    }
    if (template->count == P3_WORDS)
      p3_fatal("P3_TEMPLATE: more than %d words", P3_WORDS);
    char *word = to;
    bool quoted = false;
    for (; *text && (quoted || !is_blank(*text)); text++)
      if (*text == '"')
        quoted = !quoted;
      else
        *to++ = *text;
    if (quoted)
      p3_fatal("P3_TEMPLATE: a quote is not closed");
    *to++ = '\0';
    struct p3_word parsed = parse(word);
    inputs += parsed.kind == P3_STDIN;
    marked += parsed.kind == P3_MARKED;
    arguments += parsed.kind == P3_ARGS ? parsed.max : 1;
    template->words[template->count++] = parsed;
  }
  if (inputs > 1 || marked > 1)
    p3_fatal("P3_TEMPLATE: %s stands there more than once", inputs > 1 ? "@stdin" : "@input");
  if (arguments >= P3_ARGUMENTS)
    p3_fatal("P3_TEMPLATE: more than %d arguments", P3_ARGUMENTS - 1);
}

static struct p3_bytes take(struct p3_bytes *left, size_t size) {
  struct p3_bytes taken = {left->at, size < left->size ? size : left->size};
  left->at += taken.size;
  left->size -= taken.size;
  return taken;
}

static struct p3_bytes take_argument(struct p3_bytes *left, size_t most) {
  size_t room = most < left->size ? most : left->size, size = 0;
  while (size < room && left->at[size])
    size++;
  struct p3_bytes taken = take(left, size);
  if (left->size && !*left->at)
    take(left, 1);
  return taken;
}

static struct p3_bytes take_stream(struct p3_bytes *left, size_t most, bool is_last) {
  if (is_last)
    return take(left, most);
  struct p3_bytes length = take(left, 2);
  size_t size = (length.size > 0 ? length.at[0] : 0) | (size_t)(length.size > 1 ? length.at[1] : 0) << 8;
  return take(left, size < most ? size : most);
}

static struct p3_bytes text(const char *string) {
  return (struct p3_bytes){(const uint8_t *)string, strlen(string)};
}

const char *p3_template_file(size_t number) {
  static const char names[P3_WORDS][2] = {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M",
                                          "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z",
                                          "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
                                          "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z",
                                          "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "_", "-"};
  return names[number];
}

void p3_template_decode(const struct p3_template *template, const uint8_t *data, size_t size,
                        struct p3_input *input) {
  struct p3_bytes left = {data, size};
  size_t streams = 0;
  input->count = input->files = 0;
  input->stdin = input->marked = (struct p3_bytes){data, 0};
  for (size_t i = 0; i < template->count; i++) {
    const struct p3_word *word = &template->words[i];
    size_t many = 1;
    switch (word->kind) {
    case P3_LITERAL:
      input->arguments[input->count++] = text(word->text);
      break;
    case P3_ARGS: {
      struct p3_bytes byte = take(&left, 1);
      many = word->min + (byte.size ? *byte.at : 0) % (word->max - word->min + 1);
    } /* fall through */
    case P3_ARG:
      while (many--)
        input->arguments[input->count++] = take_argument(&left, word->size);
      break;
    case P3_FILE:
      input->arguments[input->count++] = text(p3_template_file(input->files++));
      streams++;
      break;
    case P3_STDIN:
    case P3_MARKED:
      streams++;
      break;
    }
  }
  input->files = 0;
  for (size_t i = 0; i < template->count; i++) {
    const struct p3_word *word = &template->words[i];
    if (word->kind == P3_FILE)
      input->file[input->files++] = take_stream(&left, word->size, --streams == 0);
    else if (word->kind == P3_STDIN)
      input->stdin = take_stream(&left, word->size, --streams == 0);
    else if (word->kind == P3_MARKED)
      input->marked = take_stream(&left, word->size, --streams == 0);
  }
}
