/* What P3_OUTDIR asks for: the versions' outputs, how they ended, and report.json.
 *
 * report.json is one object:
 *   "difference": whether the versions differ in output or end;
 *   "sequential": why a woven product did not run the versions in lock-step; only there if so;
 *   "versions": [{"name": input file, "status": "exit N" | "signal NAME", "assert_failed": bool,
 *                 "stdout_length": bytes, "stderr_length": bytes}, ...] in the order of the merge;
 *   "checks": {"output", "status", "assert", "spec": {"enabled": bool, "verdict": "pass" | "fail"}}, where a verdict
 * is given for disabled checks, too; "differences": [{"stream": "stdout" | "stderr", "versions": [1, i],
 * "offset": bytes before the difference, "line", "column": from 1, in bytes, "bytes": [of version 1, of i],
 * null: ended}, ...], the first one per version and stream; "divergences", "returns": [{"kind": "branch" |
 * "switch" | "call" | "return", "count": reports, "versions": those that did other than the first, "places":
 * ["file:line" | "function()" | null, one per version]}, ...], what the checks of these names found with
 * P3_ON_DIVERGENCE=count or log; "spec": [{"kind": "assert" | "assume", "spec": the relation, "places": as above,
 * "evaluated", "failed": how often, "skipped": how often a version came to its place without the others}, ...], with
 * those of hand-written product functions that did not hold behind the versions' own;
 * "outputs": [{"name", "lengths": [one per version], "difference": null | {"versions": [1, i], "offset"}}, ...], what
 * versions gave out with pp_output. Names are escaped as JSON strings; bytes that are
 * not UTF-8 become U+FFFD. */
#include "process.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

const char *p3_signal_name(int number) {
  static const char *const names[] = {
      [SIGHUP] = "HUP",   [SIGINT] = "INT",       [SIGQUIT] = "QUIT", [SIGILL] = "ILL",
      [SIGTRAP] = "TRAP", [SIGABRT] = "ABRT",     [SIGBUS] = "BUS",   [SIGFPE] = "FPE",
      [SIGKILL] = "KILL", [SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
      [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM",     [SIGTERM] = "TERM", [SIGSTKFLT] = "STKFLT",
      [SIGCHLD] = "CHLD", [SIGCONT] = "CONT",     [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
      [SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",     [SIGURG] = "URG",   [SIGXCPU] = "XCPU",
      [SIGXFSZ] = "XFSZ", [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH",
      [SIGIO] = "POLL",   [SIGPWR] = "PWR",       [SIGSYS] = "SYS",
  };
  return number > 0 && number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}

void p3_status_text(int version, char *text, size_t size) {
  const struct p3_state *state = &p3_states[version];
  int value = p3_example(state->value);
  const char *name = p3_signal_name(value);
  if (state->end != P3_SIGNALED)
    p3_format(text, size, "exit %d", value);
  else if (name)
    p3_format(text, size, "signal %s", name);
  else
    p3_format(text, size, "signal %d", value);
}

/* Half a file would be taken for a whole one. */
static _Noreturn void fail(const char *name) {
  int error = errno;
  struct stat stat;
  if (fstatat(p3_config.outdir, name, &stat, 0) == 0 && S_ISREG(stat.st_mode))
    unlinkat(p3_config.outdir, name, 0);
  p3_fatal("cannot write %s in P3_OUTDIR: %s", name, strerror(error));
}

static int create(const char *name) {
  int fd = openat(p3_config.outdir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    p3_fatal("cannot write %s in P3_OUTDIR: %s", name, strerror(errno));
  return p3_fd_hide(fd);
}

static void put(int fd, const char *name, const char *bytes, size_t size) {
  while (size) {
    ssize_t done = write(fd, bytes, size);
    if (done < 0 && errno != EINTR)
      fail(name);
    if (done > 0) {
      bytes += done;
      size -= done;
    }
  }
}

static void write_output(int version, int stream) {
  char name[32];
  snprintf(name, sizeof name, "%d.%s", version + 1, stream == 1 ? "stdout" : "stderr");
  int fd = create(name);
  static char buffer[1 << 16];
  size_t size;
  for (off_t at = 0; (size = p3_capture_get(version, stream, at, buffer, sizeof buffer)) > 0; at += size)
    put(fd, name, buffer, size);
  close(fd);
}

static void write_status(int version) {
  char name[32], text[40];
  snprintf(name, sizeof name, "%d.status", version + 1);
  p3_status_text(version, text, sizeof text - 1);
  strcat(text, "\n");
  int fd = create(name);
  put(fd, name, text, strlen(text));
  close(fd);
}

/* ---- report.json ---- */

/* Length of the valid UTF-8 sequence at `text`, 0 if there is none. */
static int sequence_length(const unsigned char *text) {
  int length = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2 : (text[0] & 0xf0) == 0xe0 ? 3 : 4;
  if ((length == 1 && text[0] >= 0x80) || (text[0] >= 0x80 && text[0] < 0xc2) || text[0] > 0xf4)
    return 0;
  for (int i = 1; i < length; i++)
    if ((text[i] & 0xc0) != 0x80)
      return 0;
  bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
  bool outside = (text[0] == 0xed && text[1] >= 0xa0) || (text[0] == 0xf4 && text[1] >= 0x90);
  return overlong || outside ? 0 : length;
}

static void write_string(FILE *out, const char *string) {
  putc('"', out);
  for (const unsigned char *text = (const unsigned char *)string; *text;) {
    int length = sequence_length(text);
    if (*text == '"' || *text == '\\')
      fprintf(out, "\\%c", *text);
    else if (*text < 0x20)
      fprintf(out, "\\u%04x", *text);
    else if (length)
      fwrite(text, 1, length, out);
    else
      fputs("\\ufffd", out);
    text += length ? length : 1;
  }
  putc('"', out);
}

static void write_versions(FILE *out) {
  fputs("  \"versions\": [", out);
  for (int i = 0; i < p3_count; i++) {
    char status[32];
    p3_status_text(i, status, sizeof status);
    fprintf(out, "%s\n    {\"name\": ", i ? "," : "");
    write_string(out, p3_names[i]);
    fprintf(out,
            ", \"status\": \"%s\", \"assert_failed\": %s, \"stdout_length\": %lld, \"stderr_length\": %lld}",
            status, p3_states[i].assert_failed ? "true" : "false", (long long)p3_capture_length(i, 1),
            (long long)p3_capture_length(i, 2));
  }
  fputs("\n  ],\n", out);
}

static void write_check(FILE *out, const char *name, unsigned bit, bool failed, const char *end) {
  fprintf(out, "\n    \"%s\": {\"enabled\": %s, \"verdict\": \"%s\"}%s", name,
          p3_checks & bit ? "true" : "false", failed ? "fail" : "pass", end);
}

static void write_byte(FILE *out, int byte) {
  if (byte < 0)
    fputs("null", out);
  else
    fprintf(out, "%d", byte);
}

static void write_place(FILE *out, const char *place) {
  if (place)
    write_string(out, place);
  else
    fputs("null", out);
}

static void write_differences(FILE *out) {
  fputs("  \"differences\": [", out);
  bool any = false;
  for (int i = 1; i < p3_count; i++)
    for (int stream = 1; stream <= 2; stream++) {
      const struct p3_difference *difference = &p3_differences[i][stream];
      if (!difference->found)
        continue;
      fprintf(out,
              "%s\n    {\"stream\": \"%s\", \"versions\": [1, %d], \"offset\": %lld, \"line\": %lld, "
              "\"column\": %lld, \"bytes\": [",
              any ? "," : "", stream == 1 ? "stdout" : "stderr", i + 1, (long long)difference->offset,
              (long long)difference->line, (long long)difference->column);
      write_byte(out, difference->byte_a);
      fputs(", ", out);
      write_byte(out, difference->byte_b);
      fputs("], \"places\": [", out);
      write_place(out, p3_site_of(0, stream, difference->offset));
      fputs(", ", out);
      write_place(out, p3_site_of(i, stream, difference->offset));
      fputs("]}", out);
      any = true;
    }
  fputs(any ? "\n  ],\n" : "],\n", out);
}

static void write_parting(FILE *out, const struct p3_parting *parting) {
  fprintf(out, "\n    {\"kind\": \"%s\", \"count\": %lu, \"versions\": [", p3_parting_name(parting),
          parting->count);
  const char *comma = "";
  for (int i = 0; i < p3_count; i++)
    if (parting->versions >> i & 1) {
      fprintf(out, "%s%d", comma, i + 1);
      comma = ", ";
    }
  fputs("], \"places\": [", out);
  for (int i = 0; i < p3_count; i++) {
    fputs(i ? ", " : "", out);
    write_place(out, parting->places[i]);
  }
  fputs("]}", out);
}

static void write_partings(FILE *out, const char *name, bool returns) {
  fprintf(out, "  \"%s\": [", name);
  bool any = false;
  for (const struct p3_parting *parting = p3_partings; parting; parting = parting->next)
    if ((parting->kind == P3_PARTING_RETURN) == returns) {
      fputs(any ? "," : "", out);
      write_parting(out, parting);
      any = true;
    }
  fputs(any ? "\n  ]" : "]", out);
}

/* One specification: at the places of a meeting, or at one that is in none. */
static void write_spec(FILE *out, bool any, const struct p3_place *const places[], unsigned long evaluated,
                       unsigned long failed) {
  const struct p3_place *first = NULL;
  unsigned long skipped = 0;
  for (int i = 0; i < p3_count; i++)
    if (places[i]) {
      first = places[i];
      if (places[i]->reached > evaluated)
        skipped += places[i]->reached - evaluated;
    }
  if (!first)
    return;
  fprintf(out, "%s\n    {\"kind\": \"%s\", \"spec\": ", any ? "," : "", first->what ? "assume" : "assert");
  write_string(out, first->text);
  fputs(", \"places\": [", out);
  for (int i = 0; i < p3_count; i++) {
    fputs(i ? ", " : "", out);
    if (places[i]) {
      char place[PATH_MAX];
      snprintf(place, sizeof place, "%s:%d", places[i]->file, places[i]->line);
      write_string(out, place);
    } else {
      fputs("null", out);
    }
  }
  fprintf(out, "], \"evaluated\": %lu, \"failed\": %lu, \"skipped\": %lu}", evaluated, failed, skipped);
}

static bool meets(const struct p3_place *place) {
  for (struct p3_meeting *const *meeting = p3_spec_meetings; *meeting; meeting++)
    if ((*meeting)->places[place->version] == place)
      return true;
  return false;
}

static void write_specs(FILE *out) {
  fputs(",\n  \"spec\": [", out);
  bool any = false;
  for (struct p3_meeting *const *meeting = p3_spec_meetings; *meeting; meeting++, any = true)
    write_spec(out, any, (const struct p3_place *const *)(*meeting)->places, (*meeting)->evaluated,
               (*meeting)->failed);
  for (struct p3_place *const *place = p3_spec_places; *place; place++)
    if (!meets(*place)) {
      const struct p3_place *places[P3_MAX_VERSIONS] = {0};
      places[(*place)->version] = *place;
      write_spec(out, any, places, 0, 0);
      any = true;
    }
  for (const struct p3_model_failure *failure = p3_model_failures; failure; failure = failure->next, any = true) {
    const struct p3_place *places[P3_MAX_VERSIONS];
    for (int i = 0; i < p3_count; i++)
      places[i] = &failure->place;
    write_spec(out, any, places, failure->count, failure->count);
  }
  fputs(any ? "\n  ]" : "]", out);
}

static void write_marks(FILE *out) {
  fputs(",\n  \"outputs\": [", out);
  for (const struct p3_mark *mark = p3_marks; mark; mark = mark->next) {
    fprintf(out, "%s\n    {\"name\": ", mark == p3_marks ? "" : ",");
    write_string(out, mark->name);
    fputs(", \"lengths\": [", out);
    int other = 0;
    for (int i = 0; i < p3_count; i++) {
      fprintf(out, "%s%zu", i ? ", " : "", mark->captures[i].length);
      if (!other && p3_mark_differs(mark, i))
        other = i;
    }
    if (other)
      fprintf(out, "], \"difference\": {\"versions\": [1, %d], \"offset\": %zu}}", other + 1,
              p3_mark_difference(mark, other));
    else
      fputs("], \"difference\": null}", out);
  }
  fputs(p3_marks ? "\n  ]" : "]", out);
}

static void write_json(void) {
  static const char name[] = "report.json";
  FILE *out = fdopen(create(name), "w");
  if (!out)
    fail(name);
  bool output_failed = p3_marks ? p3_marks_differ() : p3_output_failed;
  fprintf(out, "{\n  \"difference\": %s,\n", output_failed || p3_status_failed ? "true" : "false");
  char reason[96];
  p3_rerun_reason(reason, sizeof reason);
  if (*reason)
    fprintf(out, "  \"sequential\": \"%s\",\n", reason);
  write_versions(out);
  fputs("  \"checks\": {", out);
  write_check(out, "output", P3_CHECK_OUTPUT, output_failed, ",");
  write_check(out, "status", P3_CHECK_STATUS, p3_status_failed, ",");
  write_check(out, "assert", P3_CHECK_ASSERT, p3_assert_failed, ",");
  write_check(out, "spec", P3_CHECK_SPEC, p3_spec_failed, "\n  },\n");
  write_differences(out);
  write_partings(out, "divergences", false);
  fputs(",\n", out);
  write_partings(out, "returns", true);
  write_specs(out);
  write_marks(out);
  fputs("\n}\n", out);
  bool written = fflush(out) == 0 && !ferror(out);
  if (fclose(out) != 0 || !written)
    fail(name);
}

void p3_report_write(void) {
  for (int i = 0; i < p3_count; i++) {
    write_output(i, 1);
    write_output(i, 2);
    write_status(i);
  }
  write_json();
}
