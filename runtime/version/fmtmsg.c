/* fmtmsg and addseverity, per version: the list of severities, MSGVERB and SEV_LEVEL as the version's
 * environment has them at its first message, output on the version's stderr. */
#include "p3v_libc.h"
#include <fmtmsg.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

void SHIM(syslog)(int priority, const char *format, ...);

struct severity {
  struct severity *next;
  int level;
  const char *text;
};
static struct severity *added;

static const char *severity_text(int level) {
  static const char *const standard[] = {"", "HALT", "ERROR", "WARNING", "INFO"};
  for (struct severity *at = added; at; at = at->next)
    if (at->level == level)
      return at->text;
  return level >= MM_NOSEV && level <= MM_INFO ? standard[level] : NULL;
}

static int add(int level, const char *text) {
  struct severity **at = &added;
  while (*at && (*at)->level != level)
    at = &(*at)->next;
  struct severity *found = *at;
  if (!text) {
    if (!found)
      return MM_NOTOK;
    *at = found->next;
    free(found);
    return MM_OK;
  }
  if (!found) {
    found = malloc(sizeof *found);
    if (!found)
      return MM_NOTOK;
    *found = (struct severity){added, level, NULL};
    added = found;
  }
  found->text = text;
  return MM_OK;
}

int SHIM(addseverity)(int level, const char *text) {
  if (level <= MM_INFO)
    return MM_NOTOK;
  return add(level, text);
}

/* The parts of a message, in the order in which they are printed. */
enum part { LABEL, SEVERITY, TEXT, ACTION, TAG, PARTS };

/* Reads MSGVERB: names of parts between colons. Anything else in it: all parts. */
static void read_parts(bool shown[PARTS]) {
  static const char *const names[PARTS] = {"label", "severity", "text", "action", "tag"};
  const char *at = SHIM(getenv)("MSGVERB");
  bool all = !at || !*at;
  memset(shown, 0, PARTS * sizeof *shown);
  while (!all && *at) {
    size_t length = strcspn(at, ":");
    int part = 0;
    while (part < PARTS && (strlen(names[part]) != length || memcmp(names[part], at, length) != 0))
      part++;
    if (part == PARTS) {
      all = true;
    } else {
      shown[part] = true;
      at += length;
      if (*at == ':')
        at++;
    }
  }
  if (all)
    memset(shown, 1, PARTS * sizeof *shown);
}

/* Reads SEV_LEVEL: "description,level,text" between colons. */
static void read_levels(void) {
  const char *at = SHIM(getenv)("SEV_LEVEL");
  while (at && *at) {
    const char *end = at + strcspn(at, ":");
    const char *comma = memchr(at, ',', (size_t)(end - at));
    if (comma) {
      char *rest;
      long level = strtol(comma + 1, &rest, 0);
      if (rest != comma + 1 && rest < end && *rest == ',' && level > MM_INFO) {
        char *text = strndup(rest + 1, (size_t)(end - rest - 1));
        if (text)
          add((int)level, text);
      }
    }
    at = *end ? end + 1 : end;
  }
}

static bool valid_label(const char *label) {
  const char *colon = strchr(label, ':');
  return colon && colon - label <= 10 && strlen(colon + 1) <= 14;
}

int SHIM(fmtmsg)(long classification, const char *label, int severity, const char *text, const char *action,
                 const char *tag) {
  static bool shown[PARTS], initialised;
  if (!initialised) {
    initialised = true;
    read_parts(shown);
    read_levels();
  }
  if (label && !valid_label(label))
    return MM_NOTOK;
  const char *level = severity_text(severity);
  if (!level)
    return MM_NOTOK;

  const char *part[PARTS] = {label, severity == MM_NULLSEV ? NULL : level, text, action, tag};
  char *line;
  for (int pass = 0; pass < 2; pass++) {
    long wanted = pass == 0 ? MM_PRINT : MM_CONSOLE;
    if (!(classification & wanted))
      continue;
    bool has[PARTS];
    for (int i = 0; i < PARTS; i++)
      has[i] = part[i] && (pass == 1 || shown[i]);
    const char *after_label = has[SEVERITY] || has[TEXT] || has[ACTION] || has[TAG] ? ": " : "";
    const char *after_severity = has[TEXT] || has[ACTION] || has[TAG] ? ": " : "";
    const char *after_text = has[ACTION] || has[TAG] ? "\n" : "";
    if (asprintf(&line, "%s%s%s%s%s%s%s%s%s%s\n", has[LABEL] ? label : "", has[LABEL] ? after_label : "",
                 has[SEVERITY] ? level : "", has[SEVERITY] ? after_severity : "", has[TEXT] ? text : "",
                 has[TEXT] ? after_text : "", has[ACTION] ? "TO FIX: " : "", has[ACTION] ? action : "",
                 has[ACTION] && has[TAG] ? "  " : "", has[TAG] ? tag : "") < 0)
      return MM_NOTOK;
    if (pass == 0)
      p3v_complain("%s", line);
    else
      SHIM(syslog)(LOG_ERR, "%s", line);
    free(line);
  }
  return MM_OK;
}
