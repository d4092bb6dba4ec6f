/* The checks at the end of a product: equal output, equal end, no failed assertion.
 *
 * Natively the captures are compared block by block out of their files. In KLEE the differences of all bytes
 * are accumulated and there is one branch on the result, so that the comparison forks at most once. KLEE
 * folds `a != b` for equal expressions, but not `a ^ b`, which would then have to be solved. */
#include "core.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct p3_difference p3_differences[P3_MAX_VERSIONS][3];
bool p3_output_failed, p3_status_failed, p3_assert_failed;
int p3_combined_status;

static void found(struct p3_difference *difference, off_t offset, int a, int b) {
  difference->found = true;
  difference->offset = offset;
  difference->byte_a = a;
  difference->byte_b = b;
}

static void count_lines(struct p3_difference *difference, const char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    difference->column++;
    if (bytes[i] == '\n') {
      difference->line++;
      difference->column = 1;
    }
  }
}

static size_t first_difference(const char *a, const char *b, size_t size) {
  size_t i = 0;
  while (i < size && a[i] == b[i])
    i++;
  return i;
}

/* Finds line and column of a difference, which costs a second look at what stands before it. */
static void locate(struct p3_difference *difference, int stream) {
  static char bytes[1 << 16] P3_KEPT;
  difference->line = difference->column = 1;
  for (off_t at = 0; at < difference->offset;) {
    off_t left = difference->offset - at;
    size_t size =
        p3_capture_get(0, stream, at, bytes, left < (off_t)sizeof bytes ? (size_t)left : sizeof bytes);
    if (!size)
      return;
    count_lines(difference, bytes, size);
    at += size;
  }
}

static void compare(int version, int stream) {
  static char a[1 << 16] P3_KEPT, b[1 << 16] P3_KEPT;
  struct p3_difference *difference = &p3_differences[version][stream];
  /* As far as the version followed the first one it has been compared. */
  bool follows = p3_follow_is_on(stream) && p3_captures[version][stream].follows;
  for (off_t at = follows ? p3_capture_length(version, stream) : 0;;) {
    size_t size_a = p3_capture_get(0, stream, at, a, sizeof a);
    size_t size_b = p3_capture_get(version, stream, at, b, sizeof b);
    size_t size = size_a < size_b ? size_a : size_b;
    if (size_a != size_b || memcmp(a, b, size) != 0) {
      size_t same = first_difference(a, b, size);
      found(difference, at + same, same < size_a ? (unsigned char)a[same] : -1,
            same < size_b ? (unsigned char)b[same] : -1);
      locate(difference, stream);
      return;
    }
    if (!size)
      return;
    at += size;
  }
}

/* Line and column are not counted: every symbolic byte before the difference would fork. */
static void compare_in_memory(int version, int stream) {
  const struct p3_capture *a = &p3_captures[0][stream], *b = &p3_captures[version][stream];
  if (a->length != b->length || p3_memory_differs(a->bytes, b->bytes, a->length))
    p3_differences[version][stream].found = true;
}

static void compare_outputs(void (*compare_stream)(int version, int stream)) {
  for (int i = 1; i < p3_count; i++)
    for (int stream = 1; stream <= 2; stream++) {
      compare_stream(i, stream);
      p3_output_failed |= p3_differences[i][stream].found;
    }
}

void p3_checks_run(void) {
  /* No branches: a symbolic status must not fork, and KLEE comes here at the end of every path. */
  const struct p3_state *first = &p3_states[0];
  bool assertion = false, differing = false;
  int combined = 0, bit = 1;
  for (int i = 0; i < p3_count; i++) {
    const struct p3_state *state = &p3_states[i];
    assertion |= state->assert_failed;
    differing |= (state->end != first->end) | (state->value != first->value);
    combined |= -(int)((state->end != P3_EXITED) | (state->value != 0)) & bit;
    bit += p3_count <= 7 ? bit : 0;
  }
  p3_assert_failed = assertion;
  p3_status_failed = differing;
  p3_combined_status = combined;
  bool wanted = p3_checks & P3_CHECK_OUTPUT || p3_config.show_all || p3_config.outdir >= 0;
  if (wanted && (!p3_in_klee() || p3_is_captured_in_memory))
    compare_outputs(p3_in_klee() ? compare_in_memory : compare);
}

static const char *byte_text(int byte, char text[16]) {
  if (byte < 0)
    return "the end";
  if (byte > ' ' && byte < 0x7f && byte != '\'')
    snprintf(text, 16, "'%c'", byte);
  else
    snprintf(text, 16, "0x%02x", byte);
  return text;
}

/* In KLEE. The bytes and the place may be symbolic; printing them would fork. And many paths end here, so nothing is
 * composed but the number. */
static void say_difference_in_klee(int version, int stream) {
  static char out[] = "p3: output: stdout differs between versions 1 and 00\n";
  static char err[] = "p3: output: stderr differs between versions 1 and 00\n";
  char *line = stream == 1 ? out : err;
  size_t size = sizeof out - 4;
  int number = version + 1;
  if (number >= 10)
    line[size++] = '1';
  line[size++] = (char)('0' + number % 10);
  line[size++] = '\n';
  (void)!write(2, line, size);
}

static void say_difference(int version, int stream) {
  const struct p3_difference *difference = &p3_differences[version][stream];
  const char *name = stream == 1 ? "stdout" : "stderr";
  if (p3_in_klee()) {
    say_difference_in_klee(version, stream);
    return;
  }
  char a[16], b[16];
  p3_say("output: %s of version %d (%s) differs from version 1 (%s) at byte %lld, line %lld, column %lld: "
         "%s instead of %s",
         name, version + 1, p3_names[version], p3_names[0], (long long)difference->offset,
         (long long)difference->line, (long long)difference->column, byte_text(difference->byte_b, b),
         byte_text(difference->byte_a, a));
}

static bool say_differences(void) {
  for (int i = 1; i < p3_count; i++)
    for (int stream = 1; stream <= 2; stream++)
      if (p3_differences[i][stream].found) {
        say_difference(i, stream);
        return true;
      }
  return false;
}

static void say_status(void) {
  for (int i = 1; i < p3_count; i++) {
    if (p3_states[i].end == p3_states[0].end && p3_states[i].value == p3_states[0].value)
      continue;
    char a[32], b[32];
    p3_status_text(0, a, sizeof a);
    p3_status_text(i, b, sizeof b);
    p3_say("status: version 1 (%s) ended with %s, version %d (%s) with %s", p3_names[0], a, i + 1,
           p3_names[i], b);
    return;
  }
}

static void say_assert(void) {
  for (int i = 0; i < p3_count; i++)
    if (p3_states[i].assert_failed) {
      p3_say("assert: version %d (%s) ended by a failed assertion", i + 1, p3_names[i]);
      return;
    }
}

void p3_checks_say(void) {
  if (p3_spec_assumed) {
    if (p3_config.show_all && p3_config.status == P3_NOBODY)
      p3_say("assume: %s:%d: %s does not hold: nothing is checked", p3_spec_assumed->file, p3_spec_assumed->line,
             p3_spec_assumed->text);
    return;
  }
  bool output = p3_checks & P3_CHECK_OUTPUT && (p3_marks ? p3_marks_differ() : p3_output_failed);
  bool status = p3_checks & P3_CHECK_STATUS && p3_status_failed;
  bool assertion = p3_checks & P3_CHECK_ASSERT && p3_assert_failed;
  if (!(output | status | assertion | p3_config.show_all))
    return;
  /* Somebody who takes one version's status takes the product for that version. */
  bool stands_in = p3_config.status != P3_NOBODY;
  /* Where the program says what counts as its output, the streams do not. */
  if (p3_config.show_all && !stands_in && p3_output_failed && !p3_marks && !output)
    say_differences();
  if (stands_in || !(output || status || assertion))
    return;
  if (output && p3_marks)
    p3_marks_say();
  else if (output)
    say_differences();
  else if (status)
    say_status();
  else
    say_assert();
  abort();
}
