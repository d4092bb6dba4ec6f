/* Arguments and results as text: one line with the call, then one for the result and one for everything that the
 * function may have written. */
#include "entry.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct p3_call *call;

static void show_character(unsigned char c, char quote) {
  static const char codes[] = "\a\b\t\n\v\f\r", letters[] = "abtnvfr";
  const char *code = c ? strchr(codes, c) : NULL;
  if (code)
    printf("\\%c", letters[code - codes]);
  else if (c == '\\' || c == (unsigned char)quote)
    printf("\\%c", c);
  else if (c >= ' ' && c <= '~')
    putchar(c);
  else
    printf("\\x%02x", c);
}

static void show_text(const char *at, size_t length) {
  putchar('"');
  for (size_t i = 0; i < length; i++)
    show_character((unsigned char)at[i], '"');
  putchar('"');
}

static uint64_t integer(const struct p3_shape *shape, const char *at) {
  uint64_t value = 0;
  uint32_t bits = (uint32_t)(8 * shape->size);
  if (shape->bits) {
    bits = shape->bits;
    for (uint32_t i = 0; i < bits; i++) {
      uint32_t bit = shape->shift + i;
      value |= (uint64_t)((unsigned char)at[bit / 8] >> bit % 8 & 1) << i;
    }
  } else {
    memcpy(&value, at, shape->size < 8 ? shape->size : 8);
  }
  if (shape->flags & P3_SIGNED && bits < 64 && value >> (bits - 1) & 1)
    value |= ~(uint64_t)0 << bits;
  return value;
}

static void show_integer(const struct p3_shape *shape, const char *at) {
  uint64_t value = integer(shape, at);
  if (shape->size > 8) {
    uint64_t high;
    memcpy(&high, at + 8, 8);
    printf("0x%" PRIx64 "%016" PRIx64, high, value);
  } else if (shape->flags & P3_CHARACTERS && value >= ' ' && value <= '~') {
    putchar('\'');
    show_character((unsigned char)value, '\'');
    putchar('\'');
  } else if (shape->flags & P3_SIGNED) {
    printf("%" PRId64, (int64_t)value);
  } else {
    printf("%" PRIu64, value);
  }
}

static void show_float(const struct p3_shape *shape, const char *at) {
  long double wide;
  double value;
  float narrow;
  if (shape->size == sizeof narrow) {
    memcpy(&narrow, at, sizeof narrow);
    printf(isnan(narrow) ? "nan" : "%.9g", (double)narrow);
  } else if (shape->size == sizeof value) {
    memcpy(&value, at, sizeof value);
    printf(isnan(value) ? "nan" : "%.17g", value);
  } else {
    memcpy(&wide, at, sizeof wide);
    printf(isnan(wide) ? "nan" : "%.21Lg", wide);
  }
}

static void show_enumerators(const struct p3_shape *shape, const char *at) {
  uint64_t value = integer(shape, at), left = value;
  uint64_t mask = shape->size < 8 ? ((uint64_t)1 << 8 * shape->size) - 1 : ~(uint64_t)0;
  for (size_t i = 0; i < shape->count; i++)
    if (((uint64_t)shape->enumerators[i].value & mask) == (value & mask)) {
      fputs(shape->enumerators[i].name, stdout);
      return;
    }
  if (shape->kind == P3_ENUM) {
    printf("%" PRId64, (int64_t)value);
    return;
  }
  const char *between = "";
  for (size_t i = 0; i < shape->count; i++) {
    uint64_t bit = (uint64_t)shape->enumerators[i].value;
    if (bit && (left & bit) == bit) {
      printf("%s%s", between, shape->enumerators[i].name);
      left &= ~bit;
      between = "|";
    }
  }
  if (left || !value)
    printf("%s%" PRIu64, between, left);
}

static void show(const struct p3_shape *shape, const char *base);

static void show_list(const struct p3_shape *element, const char *at, size_t count) {
  putchar('{');
  for (size_t i = 0; i < count; i++) {
    fputs(i ? ", " : "", stdout);
    show(element, at + i * element->size);
  }
  putchar('}');
}

static bool is_byte(const struct p3_shape *shape) {
  return shape->kind == P3_INTEGER && shape->size == 1 && !shape->bits;
}

static void show_block(const struct p3_block *block) {
  const struct p3_shape *shape = block->shape, *element = shape->children;
  size_t length = block->size;
  if (shape->kind == P3_STRING) {
    /* What was written behind the end is seen. */
    while (length && !block->at[length - 1])
      length--;
    show_text(block->at, length);
  } else if (shape->kind == P3_POINTER) {
    putchar('&');
    show(element, block->at);
  } else if (is_byte(element)) {
    show_text(block->at, block->count);
  } else {
    show_list(element, block->at, block->count);
  }
}

/* follow: whether it is known to point to something. */
static void show_pointer(const struct p3_shape *shape, const char *pointer, bool follow) {
  const struct p3_block *block = p3_entry_block_of(call, pointer);
  if (!pointer) {
    fputs("NULL", stdout);
  } else if (block && pointer == block->at && block->shape == shape) {
    show_block(block);
  } else if (block) {
    size_t size = block->shape->children ? block->shape->children->size : 1;
    size_t bytes = (size_t)(pointer - block->at);
    fputs(block->name, stdout);
    if (size && bytes % size == 0 && bytes)
      printf(" + %zu", bytes / size);
    else if (bytes)
      printf(" + %zu bytes", bytes);
  } else if (follow && shape->flags & P3_CHARACTERS) {
    show_text(pointer, strlen(pointer));
  } else if (follow && shape->children) {
    putchar('&');
    show(shape->children, pointer);
  } else {
    fputs("elsewhere", stdout);
  }
}

static const char *pointer_at(const char *at) {
  const char *pointer;
  memcpy(&pointer, at, sizeof pointer);
  return pointer;
}

/* base: what the shape is a part of. */
static void show(const struct p3_shape *shape, const char *base) {
  const char *at = base + shape->offset;
  size_t length = shape->size;
  switch (shape->kind) {
  case P3_INTEGER:
  case P3_LENGTH:
    show_integer(shape, at);
    break;
  case P3_BOOL:
    fputs(integer(shape, at) ? "true" : "false", stdout);
    break;
  case P3_FLOAT:
    show_float(shape, at);
    break;
  case P3_ENUM:
  case P3_FLAGS:
    show_enumerators(shape, at);
    break;
  case P3_RAW:
    show_text(at, shape->size);
    break;
  case P3_STRUCT:
    putchar('{');
    for (size_t i = 0; i < shape->count; i++) {
      printf("%s%s%s", i ? ", " : "", shape->children[i].name, *shape->children[i].name ? " = " : "");
      show(&shape->children[i], at);
    }
    putchar('}');
    break;
  case P3_ARRAY:
    if (is_byte(shape->children)) {
      while (length && shape->flags & P3_CHARACTERS && !at[length - 1])
        length--;
      show_text(at, length);
    } else {
      show_list(shape->children, at, shape->count);
    }
    break;
  default:
    show_pointer(shape, pointer_at(at), (shape->flags & P3_STRINGS) != 0);
  }
}

void p3_entry_show_arguments(const struct p3_call *made) {
  const struct p3_shape *parameters = made->signature->parameters;
  call = made;
  printf("%s(", made->signature->name);
  for (size_t i = 0; i < parameters->count; i++) {
    printf("%s%s = ", i ? ", " : "", parameters->children[i].name);
    show(&parameters->children[i], made->frame);
  }
  puts(")");
}

void p3_entry_show_results(const struct p3_call *made) {
  const struct p3_shape *parameters = made->signature->parameters, *result = made->signature->result;
  call = made;
  if (result) {
    fputs("return = ", stdout);
    if (result->kind == P3_ADDRESS)
      show_pointer(result, pointer_at(made->frame + result->offset), true);
    else
      show(result, made->frame);
    putchar('\n');
  }
  for (size_t i = 0; i < parameters->count; i++) {
    const struct p3_shape *parameter = &parameters->children[i];
    if (!(parameter->flags & P3_SHOWN))
      continue;
    if (parameter->kind == P3_POINTER) {
      printf("*%s = ", parameter->name);
      show(parameter->children, pointer_at(made->frame + parameter->offset));
    } else {
      printf("%s = ", parameter->name);
      show(parameter, made->frame);
    }
    putchar('\n');
  }
}
