/* Specifications (include/p3.h): relations between the versions' values at matched places.
 *
 * A version that comes to a place says so and goes on; where the places of all versions have run back to back,
 * p3_spec_evaluate is called, while their frames are still there. Every version has the whole relation as code, but can
 * compute only its own operands. So they take turns: each runs the relation until it needs an operand that nobody
 * has computed yet, and gives up; the next one starts from the beginning with all that is known. Who gets to the end
 * has the answer. Mostly that is the last version in the first turn. Nothing is computed that the relation does not ask
 * for, and nobody's code runs on another's variables.
 *
 * A version reads another's operand as a value of its own type. If that is narrower, another version's answer
 * counts; if the value cannot be had in any version's types, the specification fails.
 *
 * With threads the counts may be too small. */
#include "core.h"
#include "p3_process.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ASSERT, ASSUME };
/* P3_KIND_ */
enum { OTHER, SIGNED, UNSIGNED, REAL, POINTER, STRING };
/* What p3_spec_operand answers. */
enum { KNOWN, OWN, MISSING };

#define OPERANDS 63

struct operand {
  unsigned char kind;
  int version;
  size_t size;
  const char *text;
  union {
    unsigned char bytes[16];
    unsigned char *memory; /* of more than 16 bytes */
    int64_t integer;
    float real32;
    double real64;
    long double real80;
    const void *pointer;
  } value;
};

struct p3_spec {
  int running;
  int missing; /* number of the operand for which the relation has given up; 0: none */
  int unfit;   /* the same, since its value does not fit */
  bool narrowed;
  uint64_t known;
  struct operand operands[OPERANDS]; /* as far as they are known or asked for */
};

bool p3_spec_failed;
const struct p3_place *p3_spec_assumed;

/* Where each version was last; of this thread. */
static _Thread_local struct arrival {
  struct p3_place *place;
  const void *captured;
} arrivals[P3_MAX_VERSIONS];

/* The specification that is being evaluated. */
static _Thread_local const struct p3_place *evaluated;

void p3_spec_reached(struct p3_place *place, const void *captured) {
  place->reached++;
  arrivals[place->version] = (struct arrival){place, captured};
}

/* ---- operands: called by the versions' relations ---- */

static struct operand *operand(struct p3_spec *spec, int number) {
  if (number <= 0 || number > OPERANDS)
    p3_fatal("a specification has more than %d operands", OPERANDS);
  return &spec->operands[number - 1];
}

/* A negative version: it is asked for a variable by name. */
int p3_spec_operand(struct p3_spec *spec, int version, int number, const char *text);
int p3_spec_operand(struct p3_spec *spec, int version, int number, const char *text) {
  struct operand *asked = operand(spec, number);
  asked->version = (version < 0 ? -version : version) - 1;
  asked->text = text;
  if (spec->known >> (number - 1) & 1)
    return KNOWN;
  if (version > 0 && asked->version == spec->running)
    return OWN;
  spec->missing = number;
  return MISSING;
}

static unsigned char *bytes_of(struct operand *of) {
  return of->size > sizeof of->value.bytes ? of->value.memory : of->value.bytes;
}

void p3_spec_put(struct p3_spec *spec, int number, const void *value, size_t size, int kind);
void p3_spec_put(struct p3_spec *spec, int number, const void *value, size_t size, int kind) {
  struct operand *put = operand(spec, number);
  put->kind = kind;
  put->size = size;
  if (size > sizeof put->value.bytes && !(put->value.memory = malloc(size)))
    p3_fatal("out of memory");
  p3_memory_copy((char *)bytes_of(put), value, size);
  spec->known |= 1ull << (number - 1);
}

static int64_t integer_of(const struct operand *of) {
  const unsigned char *at = of->value.bytes;
  bool is_signed = of->kind == SIGNED;
  switch (of->size) {
  case 1:
    return is_signed ? *(const int8_t *)at : *(const uint8_t *)at;
  case 2:
    return is_signed ? *(const int16_t *)at : *(const uint16_t *)at;
  case 4:
    return is_signed ? *(const int32_t *)at : *(const uint32_t *)at;
  default:
    return of->value.integer;
  }
}

static long double real_of(const struct operand *of) {
  return of->size == sizeof(float)    ? of->value.real32
         : of->size == sizeof(double) ? of->value.real64
                                      : of->value.real80;
}

/* As an integer of other size or sign. False: it is none. */
static bool get_integer(struct p3_spec *spec, const struct operand *from, void *value, size_t size, int kind) {
  if (size > sizeof(int64_t) || from->size > sizeof(int64_t))
    return false;
  struct operand to = {.kind = kind, .size = size, .value.integer = integer_of(from)};
  p3_memory_copy(value, (const char *)to.value.bytes, size);
  if (size < from->size || (kind == UNSIGNED && from->kind == SIGNED) || (size == from->size && kind == SIGNED))
    spec->narrowed = true;
  int64_t before = integer_of(from), after = integer_of(&to);
  bool changes_sign = kind != from->kind && before < 0;
  return before == after && !changes_sign;
}

static bool get_real(struct p3_spec *spec, const struct operand *from, void *value, size_t size) {
  long double real = real_of(from);
  if (size < from->size)
    spec->narrowed = true;
  struct operand to = {.size = size};
  if (size == sizeof(float))
    to.value.real32 = (float)real;
  else if (size == sizeof(double))
    to.value.real64 = (double)real;
  else
    to.value.real80 = real;
  p3_memory_copy(value, (const char *)to.value.bytes, size);
  return real_of(&to) == real || real != real;
}

static bool get_real_of_integer(struct p3_spec *spec, const struct operand *from, void *value, size_t size) {
  if (from->size > sizeof(int64_t))
    return false;
  int64_t integer = integer_of(from);
  bool is_huge = from->kind == UNSIGNED && integer < 0;
  struct operand wide = {.kind = REAL, .size = sizeof(long double)};
  wide.value.real80 = is_huge ? (long double)(uint64_t)integer : (long double)integer;
  bool narrowed = spec->narrowed;
  bool fits = get_real(spec, &wide, value, size);
  spec->narrowed = narrowed;
  return fits;
}

int p3_spec_get(struct p3_spec *spec, int number, void *value, size_t size, int kind);
int p3_spec_get(struct p3_spec *spec, int number, void *value, size_t size, int kind) {
  struct operand *from = operand(spec, number);
  bool from_integer = from->kind == SIGNED || from->kind == UNSIGNED;
  bool to_integer = kind == SIGNED || kind == UNSIGNED;
  bool from_pointer = from->kind == POINTER || from->kind == STRING;
  bool to_pointer = kind == POINTER || kind == STRING;
  bool fits;
  if (from->size == size && (from->kind == kind || (from_pointer && to_pointer))) {
    p3_memory_copy(value, (const char *)bytes_of(from), size);
    fits = true;
  } else if (from_integer && to_integer) {
    fits = get_integer(spec, from, value, size, kind);
  } else if (from->kind == REAL && kind == REAL) {
    fits = get_real(spec, from, value, size);
  } else if (from_integer && kind == REAL) {
    fits = get_real_of_integer(spec, from, value, size);
  } else {
    fits = false;
  }
  if (!fits)
    spec->unfit = number;
  return fits;
}

/* ---- messages ---- */

#define SHOWN 40

/* The string at `from` as far as it can be read, which libc and a sanitizer might not survive. */
static void show_string(char *text, size_t size, const char *from) {
  char bytes[SHOWN + 1];
  size_t length = 0, at = 0;
  for (; length < sizeof bytes; length++) {
    struct iovec to = {&bytes[length], 1}, there = {(void *)(from + length), 1};
    if (process_vm_readv(getpid(), &to, 1, &there, 1, 0) != 1 || !bytes[length])
      break;
  }
  at += p3_format(text, size, "\"");
  for (size_t i = 0; i < length && i < SHOWN && at + 8 < size; i++) {
    unsigned char byte = bytes[i];
    if (byte == '"' || byte == '\\')
      at += p3_format(text + at, size - at, "\\%c", byte);
    else if (byte == '\n')
      at += p3_format(text + at, size - at, "\\n");
    else if (byte < ' ' || byte >= 0x7f)
      at += p3_format(text + at, size - at, "\\x%02x", byte);
    else
      text[at++] = byte;
  }
  p3_format(text + at, size - at, "%s", length > SHOWN ? "\"..." : "\"");
}

static void show_value(char *text, size_t size, const struct operand *of) {
  if (p3_in_klee()) {
    /* One of the values that it can have there. */
    if ((of->kind == SIGNED || of->kind == UNSIGNED) && of->size <= sizeof(int64_t)) {
      int64_t integer = integer_of(of);
      int example = p3_example((int)integer);
      p3_suppose(example == (int)integer);
      if (p3_example(integer == example))
        p3_format(text, size, "%d", example);
      else
        p3_format(text, size, "a large number");
    } else {
      p3_format(text, size, of->kind == OTHER ? "an aggregate" : of->kind == REAL ? "a number" : "a pointer");
    }
    return;
  }
  switch (of->kind) {
  case SIGNED:
  case UNSIGNED:
    if (of->size > sizeof(int64_t))
      p3_format(text, size, "a large number");
    else if (of->kind == SIGNED)
      p3_format(text, size, "%lld", (long long)integer_of(of));
    else
      p3_format(text, size, "%llu", (unsigned long long)integer_of(of));
    break;
  case REAL:
    p3_format(text, size, "%.*Lg", of->size == sizeof(float) ? 9 : of->size == sizeof(double) ? 17 : 21,
              real_of(of));
    break;
  case STRING:
    if (of->value.pointer) {
      show_string(text, size, of->value.pointer);
      break;
    }
    /* fallthrough */
  case POINTER:
    p3_format(text, size, of->value.pointer ? "%p" : "null", of->value.pointer);
    break;
  default:
    p3_format(text, size, "%zu bytes", of->size);
  }
}

/* " (version 1 old.c:3: PP1(n) = 2; version 2 new.c:4: PP2(n) = 3)" */
static void show_operands(char *text, size_t size, const struct p3_spec *spec, const struct p3_meeting *meeting) {
  size_t at = 0;
  for (int version = 0; version < p3_count; version++) {
    bool any = false;
    /* They are numbered from the last one. */
    for (int i = OPERANDS - 1; i >= 0; i--) {
      const struct operand *of = &spec->operands[i];
      bool is_shown = (spec->known >> i & 1) && of->version == version;
      for (int j = OPERANDS - 1; j > i && is_shown; j--)
        if ((spec->known >> j & 1) && spec->operands[j].version == version &&
            strcmp(spec->operands[j].text, of->text) == 0)
          is_shown = false;
      if (!is_shown || at + 200 > size)
        continue;
      const struct p3_place *place = meeting->places[version];
      if (!any)
        at += p3_format(text + at, size - at, "%sversion %d %s:%d:", at ? "; " : " (", version + 1, place->file,
                        place->line);
      char value[4 * SHOWN + 8], name[80];
      show_value(value, sizeof value, of);
      p3_format(name, sizeof name, "%s", of->text);
      at += p3_format(text + at, size - at, "%s PP%d(%s) = %s", any ? "," : "", version + 1, name, value);
      any = true;
    }
  }
  p3_format(text + at, size - at, at ? ")" : "");
}

static void say(const struct p3_spec *spec, const struct p3_meeting *meeting, const struct p3_place *place) {
  char values[700], why[160] = "does not hold";
  show_operands(values, sizeof values, spec, meeting);
  if (spec->unfit)
    p3_format(why, sizeof why, "cannot be computed: PP%d(%s) does not fit the types of the other versions",
              spec->operands[spec->unfit - 1].version + 1, spec->operands[spec->unfit - 1].text);
  p3_say("spec: %s:%d: %s %s%s", place->file, place->line, place->text, why, values);
}

/* Whether a failure is to end the product: somebody who takes one version's status takes it for that version. */
static bool is_fatal(void) {
  return p3_checks & P3_CHECK_SPEC && p3_config.status == P3_NOBODY && !p3_spec_assumed;
}

bool p3_spec_crashed(const char *signal) {
  if (!evaluated || !is_fatal())
    return false;
  p3_say("spec: %s:%d: %s cannot be computed: signal %s", evaluated->file, evaluated->line, evaluated->text,
         signal);
  return true;
}

/* ---- evaluation ---- */

enum answer { FALSE, TRUE, UNKNOWN };

/* Lets one version try. */
static enum answer try(struct p3_spec *spec, const struct p3_meeting *meeting, int version) {
  struct p3_place *place = meeting->places[version];
  if (!place->relation)
    return UNKNOWN;
  for (;;) {
    spec->running = version;
    spec->missing = spec->unfit = 0;
    spec->narrowed = false;
    int told = place->relation(spec, arrivals[version].captured);
    if (told >= 0)
      return told ? TRUE : FALSE;
    if (!spec->missing)
      return UNKNOWN;
    /* Perhaps it is a variable by name. */
    int owner = spec->operands[spec->missing - 1].version;
    uint64_t known = spec->known;
    struct p3_place *other = owner < p3_count ? meeting->places[owner] : NULL;
    if (!other || !other->variables)
      return UNKNOWN;
    other->variables(spec, arrivals[owner].captured, spec->missing);
    if (spec->known == known)
      return UNKNOWN;
  }
}

/* Whether a relation that was computed with narrower types than another version has may stay the answer is decided
 * when all have tried. */
static enum answer answer(struct p3_spec *spec, const struct p3_meeting *meeting) {
  enum answer narrowed = UNKNOWN;
  int unfit = 0;
  uint64_t known;
  do {
    known = spec->known;
    for (int version = 0; version < p3_count; version++) {
      if (!meeting->places[version])
        continue;
      enum answer found = try(spec, meeting, version);
      if (found != UNKNOWN && !spec->narrowed)
        return found;
      if (found != UNKNOWN && narrowed == UNKNOWN)
        narrowed = found;
      if (spec->unfit)
        unfit = spec->unfit;
    }
  } while (known != spec->known);
  spec->unfit = narrowed == UNKNOWN ? unfit : 0;
  return narrowed;
}

__attribute__((weak)) void klee_silent_exit(int status);

/* Inputs for which an assumption does not hold are of no interest: no check fails any more. */
static void assumption_failed(const struct p3_place *place) {
  if (p3_in_klee())
    klee_silent_exit(0);
  if (!p3_spec_assumed)
    p3_spec_assumed = place;
}

static bool failed(const struct p3_spec *spec, struct p3_meeting *meeting, const struct p3_place *place) {
  meeting->failed++;
  if (place->what == ASSUME) {
    assumption_failed(place);
    return false;
  }
  p3_spec_failed = true;
  if (!is_fatal())
    return false;
  say(spec, meeting, place);
  p3_raising = true; /* the product will; it is no crash of a version */
  return true;
}

bool p3_spec_evaluate(struct p3_meeting *meeting) {
  const struct p3_place *place = NULL;
  int numbers[P3_MAX_VERSIONS];
  for (int i = 0; i < p3_count; i++) {
    if (!meeting->places[i])
      continue;
    if (meeting->places[i]->relation)
      place = meeting->places[i];
    /* A child, or a version over: its frames only return. */
    if (p3_states[i].end != P3_RUNNING || arrivals[i].place != meeting->places[i])
      return false;
    numbers[i] = *p3_versions[i]->error_number();
  }
  if (!place || p3_only >= 0)
    return false;
  struct p3_spec spec;
  spec.known = 0;
  evaluated = place;
  enum answer found = answer(&spec, meeting);
  evaluated = NULL;
  for (int i = 0; i < p3_count; i++)
    if (meeting->places[i]) {
      if (p3_states[i].end != P3_RUNNING)
        p3_fatal("spec: %s:%d: %s ended version %d", place->file, place->line, place->text, i + 1);
      *p3_versions[i]->error_number() = numbers[i];
    }
  bool ends = false;
  if (found != UNKNOWN || spec.unfit) {
    meeting->evaluated++;
    if (found != TRUE)
      ends = failed(&spec, meeting, place);
  }
  for (int i = 0; spec.known >> i; i++)
    if ((spec.known >> i & 1) && spec.operands[i].size > sizeof spec.operands[i].value.bytes)
      free(spec.operands[i].value.memory);
  return ends;
}

bool p3_spec_compared(struct p3_meeting *meeting, unsigned others) {
  const struct p3_place *first = NULL, *other = NULL;
  for (int i = p3_count - 1; i >= 0; i--)
    if (meeting->places[i]) {
      meeting->places[i]->reached++;
      first = meeting->places[i];
    }
  meeting->evaluated++;
  if (!others)
    return false;
  meeting->failed++;
  p3_spec_failed = true;
  for (int i = p3_count - 1; i >= 0; i--)
    if (others >> i & 1)
      other = meeting->places[i];
  if (!is_fatal() || !first || !other)
    return false;
  p3_say("spec: %s does not hold (version %d %s:%d, version %d %s:%d)", first->text, first->version + 1, first->file,
         first->line, other->version + 1, other->file, other->line);
  p3_raising = true;
  return true;
}

struct p3_model_failure *p3_model_failures;

static const struct p3_place *count_failure(const struct p3_place *place) {
  struct p3_model_failure **link = &p3_model_failures;
  while (*link && ((*link)->place.file != place->file || (*link)->place.line != place->line))
    link = &(*link)->next;
  if (!*link && !(*link = calloc(1, sizeof **link)))
    p3_fatal("out of memory");
  (*link)->place = *place;
  (*link)->count++;
  return &(*link)->place;
}

int p3_model_failed(int what, const char *file, int line, const char *text) {
  struct p3_place place = {.what = what, .file = file, .line = line, .text = text};
  const struct p3_place *kept = count_failure(&place);
  if (what == ASSUME) {
    assumption_failed(kept);
    return false;
  }
  p3_spec_failed = true;
  if (!is_fatal())
    return false;
  p3_say("spec: %s:%d: %s does not hold", file, line, text);
  p3_raising = true;
  return true;
}

void p3_assumption_failed(const char *text) { p3_model_failed(ASSUME, text, 0, text); }
