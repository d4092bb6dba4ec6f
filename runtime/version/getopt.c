/* getopt, getopt_long and getopt_long_only, per version, with GNU behaviour.
 *
 * They are written anew rather than taken from libc: libc's keeps optind and its place inside
 * argv in variables that all versions would share, prints on the process's stderr, and klee-uclibc's
 * differs from glibc's in messages and abbreviations. Permuting argv needs no isolation, since
 * every version has an argv of its own. */
#include "p3v_getopt.h"
#include "p3v_libc.h"
#include <string.h>

int SHIM(optind) = 1;
int SHIM(opterr) = 1;
int SHIM(optopt) = '?';
char *SHIM(optarg);

/* One call's arguments. */
struct request {
  struct p3v_getopt *scan;
  int argc;
  char **argv;
  const char *shorts; /* without its leading '+' or '-' */
  const struct option *longs;
  int *index;
  bool print;
  int missing; /* returned where an option lacks its argument */
};

static bool is_option(const char *argument) { return argument[0] == '-' && argument[1] != '\0'; }

static void reverse(char **from, char **to) {
  while (from < --to) {
    char *first = *from;
    *from++ = *to;
    *to = first;
  }
}

/* Moves the skipped non-options behind the options that follow them. */
static void move_skipped_back(struct p3v_getopt *scan, char **argv) {
  reverse(argv + scan->skipped, argv + scan->skipped_end);
  reverse(argv + scan->skipped_end, argv + scan->index);
  reverse(argv + scan->skipped, argv + scan->index);
  scan->skipped += scan->index - scan->skipped_end;
  scan->skipped_end = scan->index;
}

static void start(struct p3v_getopt *scan, const char *optstring, bool posix) {
  if (scan->index == 0)
    scan->index = 1;
  scan->skipped = scan->skipped_end = scan->index;
  scan->cluster = NULL;
  scan->started = true;
  if (optstring[0] == '-')
    scan->order = P3V_RETURN_ONE;
  else if (optstring[0] == '+' || posix || SHIM(getenv)("POSIXLY_CORRECT"))
    scan->order = P3V_STOP;
  else
    scan->order = P3V_PERMUTE;
}

static bool same_effect(const struct option *a, const struct option *b) {
  return a->has_arg == b->has_arg && a->flag == b->flag && a->val == b->val;
}

static bool abbreviates(const char *name, size_t length, const struct option *option) {
  return strncmp(option->name, name, length) == 0;
}

static int ambiguous(const struct request *r, bool long_only, const char *dashes, size_t length,
                     const struct option *first) {
  struct p3v_getopt *scan = r->scan;
  if (r->print) {
    p3v_complain(p3v_translate("%s: option '%s%s' is ambiguous; possibilities:"), r->argv[0], dashes,
                 scan->cluster);
    for (const struct option *o = first; o->name; o++)
      if (o == first || (abbreviates(scan->cluster, length, o) && (long_only || !same_effect(o, first))))
        p3v_complain(" '%s%s'", dashes, o->name);
    p3v_complain("\n");
  }
  scan->cluster += strlen(scan->cluster);
  scan->index++;
  scan->rejected = 0;
  return '?';
}

/* Reads the long option whose text, behind `dashes`, is in scan->cluster. -1: it is none, but short
 * options given to getopt_long_only, to which abbreviations are stricter, too. */
static int long_option(const struct request *r, bool long_only, const char *dashes) {
  struct p3v_getopt *scan = r->scan;
  char *name = scan->cluster;
  char *value = name + strcspn(name, "=");
  size_t length = (size_t)(value - name);
  const struct option *found = NULL, *first = NULL;
  bool several = false;

  for (const struct option *o = r->longs; o->name; o++) {
    if (!abbreviates(name, length, o))
      continue;
    if (strlen(o->name) == length) {
      found = o;
      break;
    }
    if (!first)
      first = o;
    else if (long_only || !same_effect(o, first))
      several = true;
  }
  if (!found) {
    if (several)
      return ambiguous(r, long_only, dashes, length, first);
    found = first;
  }
  if (!found) {
    if (long_only && r->argv[scan->index][1] != '-' && strchr(r->shorts, name[0]))
      return -1;
    if (r->print)
      p3v_complain(p3v_translate("%s: unrecognized option '%s%s'\n"), r->argv[0], dashes, name);
    scan->cluster = NULL;
    scan->index++;
    scan->rejected = 0;
    return '?';
  }

  scan->cluster = NULL;
  scan->index++;
  if (*value) {
    if (found->has_arg == no_argument) {
      if (r->print)
        p3v_complain(p3v_translate("%s: option '%s%s' doesn't allow an argument\n"), r->argv[0], dashes,
                     found->name);
      scan->rejected = found->val;
      return '?';
    }
    scan->argument = value + 1;
  } else if (found->has_arg == required_argument) {
    if (scan->index >= r->argc) {
      if (r->print)
        p3v_complain(p3v_translate("%s: option '%s%s' requires an argument\n"), r->argv[0], dashes,
                     found->name);
      scan->rejected = found->val;
      return r->missing;
    }
    scan->argument = r->argv[scan->index++];
  }
  if (r->index)
    *r->index = (int)(found - r->longs);
  if (!found->flag)
    return found->val;
  *found->flag = found->val;
  return 0;
}

static int missing_argument(const struct request *r, char letter) {
  struct p3v_getopt *scan = r->scan;
  if (r->print)
    p3v_complain(p3v_translate("%s: option requires an argument -- '%c'\n"), r->argv[0], letter);
  scan->rejected = letter;
  return r->missing;
}

/* Reads the next letter of scan->cluster. */
static int short_option(const struct request *r) {
  struct p3v_getopt *scan = r->scan;
  char letter = *scan->cluster++;
  const char *spec = strchr(r->shorts, letter);
  if (*scan->cluster == '\0')
    scan->index++;
  if (!spec || letter == ':' || letter == ';') {
    if (r->print)
      p3v_complain(p3v_translate("%s: invalid option -- '%c'\n"), r->argv[0], letter);
    scan->rejected = letter;
    return '?';
  }
  if (spec[0] == 'W' && spec[1] == ';' && r->longs) {
    if (*scan->cluster == '\0') {
      if (scan->index == r->argc)
        return missing_argument(r, letter);
      scan->cluster = r->argv[scan->index];
    }
    scan->argument = NULL;
    return long_option(r, false, "-W ");
  }
  if (spec[1] != ':')
    return letter;
  char *rest = scan->cluster;
  scan->cluster = NULL;
  if (*rest) {
    scan->argument = rest;
    scan->index++;
  } else if (spec[2] != ':') {
    if (scan->index == r->argc)
      return missing_argument(r, letter);
    scan->argument = r->argv[scan->index++];
  }
  return letter;
}

/* Goes to the argument that is to be read next, past non-options. False: the scan is over. */
static bool next_argument(const struct request *r) {
  struct p3v_getopt *scan = r->scan;
  /* The program may have set optind back. */
  if (scan->skipped_end > scan->index)
    scan->skipped_end = scan->index;
  if (scan->skipped > scan->index)
    scan->skipped = scan->index;

  if (scan->order == P3V_PERMUTE) {
    if (scan->skipped == scan->skipped_end)
      scan->skipped = scan->index;
    else if (scan->skipped_end != scan->index)
      move_skipped_back(scan, r->argv);
    while (scan->index < r->argc && !is_option(r->argv[scan->index]))
      scan->index++;
    scan->skipped_end = scan->index;
  }
  if (scan->index != r->argc && strcmp(r->argv[scan->index], "--") == 0) {
    scan->index++;
    if (scan->skipped == scan->skipped_end)
      scan->skipped = scan->index;
    else if (scan->skipped_end != scan->index)
      move_skipped_back(scan, r->argv);
    scan->skipped_end = scan->index = r->argc;
  }
  if (scan->index != r->argc)
    return true;
  if (scan->skipped != scan->skipped_end)
    scan->index = scan->skipped;
  return false;
}

int p3v_getopt_next(struct p3v_getopt *scan, int argc, char **argv, const char *optstring,
                    const struct option *longs, int *index, bool long_only, bool posix) {
  if (argc < 1)
    return -1;
  scan->argument = NULL;
  if (scan->index == 0 || !scan->started)
    start(scan, optstring, posix);
  if (*optstring == '-' || *optstring == '+')
    optstring++;
  bool quiet = *optstring == ':';
  struct request r = {scan, argc, argv, optstring, longs, index, scan->report && !quiet, quiet ? ':' : '?'};

  if (!scan->cluster || *scan->cluster == '\0') {
    if (!next_argument(&r))
      return -1;
    char *argument = argv[scan->index];
    if (!is_option(argument)) {
      if (scan->order == P3V_STOP)
        return -1;
      scan->argument = argument;
      scan->index++;
      return 1;
    }
    if (longs && argument[1] == '-') {
      scan->cluster = argument + 2;
      return long_option(&r, long_only, "--");
    }
    scan->cluster = argument + 1;
    if (longs && long_only && (argument[2] || !strchr(optstring, argument[1]))) {
      int code = long_option(&r, true, "-");
      if (code != -1)
        return code;
      scan->cluster = argument + 1;
    }
  }
  return short_option(&r);
}

/* As in libc, what the program puts into optopt has no effect. */
static int next_option(int argc, char *const *argv, const char *optstring, const struct option *longs,
                       int *index, bool long_only, bool posix) {
  static struct p3v_getopt scan;
  scan.index = SHIM(optind);
  scan.report = SHIM(opterr) != 0;
  int code = p3v_getopt_next(&scan, argc, (char **)argv, optstring, longs, index, long_only, posix);
  SHIM(optind) = scan.index;
  SHIM(optarg) = scan.argument;
  SHIM(optopt) = scan.rejected;
  return code;
}

int SHIM(getopt)(int argc, char *const *argv, const char *optstring) {
  return next_option(argc, argv, optstring, NULL, NULL, false, false);
}

/* What a strict POSIX compilation calls for getopt. */
int SHIM(__posix_getopt)(int argc, char *const *argv, const char *optstring) {
  return next_option(argc, argv, optstring, NULL, NULL, false, true);
}

int SHIM(getopt_long)(int argc, char *const *argv, const char *optstring, const struct option *longs,
                      int *index) {
  return next_option(argc, argv, optstring, longs, index, false, false);
}

int SHIM(getopt_long_only)(int argc, char *const *argv, const char *optstring, const struct option *longs,
                           int *index) {
  return next_option(argc, argv, optstring, longs, index, true, false);
}
