/* getopt, getopt_long and getopt_long_only, per version, with GNU behaviour.
 *
 * They are written anew rather than taken from libc: libc's keeps optind and its place inside
 * argv in variables that all versions would share, prints on the process's stderr, and klee-uclibc's
 * differs from glibc's in messages and abbreviations. Permuting argv needs no isolation, since
 * every version has an argv of its own. */
#include "p3v_libc.h"
#include <getopt.h>
#include <string.h>

int SHIM(optind) = 1;
int SHIM(opterr) = 1;
int SHIM(optopt) = '?';
char *SHIM(optarg);

/* What to do with an argument that is no option, met before the last option. */
enum order {
  PERMUTE,    /* move it behind the options */
  STOP,       /* end the scan */
  RETURN_ONE, /* hand it out as the argument of option 1 */
};

/* The place inside argv, kept from call to call. */
static struct {
  bool started;
  enum order order;
  char *cluster; /* rest of the short options in the current argument; NULL or "" between arguments */
  /* argv[skipped .. skipped_end) are non-options passed over; options read since end at optind. */
  int skipped, skipped_end;
  int rejected; /* becomes optopt after every call, whatever the program put there */
} scan;

/* One call's arguments. */
struct request {
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
static void move_skipped_back(char **argv) {
  reverse(argv + scan.skipped, argv + scan.skipped_end);
  reverse(argv + scan.skipped_end, argv + SHIM(optind));
  reverse(argv + scan.skipped, argv + SHIM(optind));
  scan.skipped += SHIM(optind) - scan.skipped_end;
  scan.skipped_end = SHIM(optind);
}

static void start(const char *optstring, bool posix) {
  if (SHIM(optind) == 0)
    SHIM(optind) = 1;
  scan.skipped = scan.skipped_end = SHIM(optind);
  scan.cluster = NULL;
  scan.started = true;
  if (optstring[0] == '-')
    scan.order = RETURN_ONE;
  else if (optstring[0] == '+' || posix || SHIM(getenv)("POSIXLY_CORRECT"))
    scan.order = STOP;
  else
    scan.order = PERMUTE;
}

static bool same_effect(const struct option *a, const struct option *b) {
  return a->has_arg == b->has_arg && a->flag == b->flag && a->val == b->val;
}

static bool abbreviates(const char *name, size_t length, const struct option *option) {
  return strncmp(option->name, name, length) == 0;
}

static int ambiguous(const struct request *r, bool long_only, const char *dashes, size_t length,
                     const struct option *first) {
  if (r->print) {
    p3v_complain(p3v_translate("%s: option '%s%s' is ambiguous; possibilities:"), r->argv[0], dashes,
                 scan.cluster);
    for (const struct option *o = first; o->name; o++)
      if (o == first ||
          (abbreviates(scan.cluster, length, o) && (long_only || !same_effect(o, first))))
        p3v_complain(" '%s%s'", dashes, o->name);
    p3v_complain("\n");
  }
  scan.cluster += strlen(scan.cluster);
  SHIM(optind)++;
  scan.rejected = 0;
  return '?';
}

/* Reads the long option whose text, behind `dashes`, is in scan.cluster. -1: it is none, but short
 * options given to getopt_long_only, to which abbreviations are stricter, too. */
static int long_option(const struct request *r, bool long_only, const char *dashes) {
  char *name = scan.cluster;
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
    if (long_only && r->argv[SHIM(optind)][1] != '-' && strchr(r->shorts, name[0]))
      return -1;
    if (r->print)
      p3v_complain(p3v_translate("%s: unrecognized option '%s%s'\n"), r->argv[0], dashes, name);
    scan.cluster = NULL;
    SHIM(optind)++;
    scan.rejected = 0;
    return '?';
  }

  scan.cluster = NULL;
  SHIM(optind)++;
  if (*value) {
    if (found->has_arg == no_argument) {
      if (r->print)
        p3v_complain(p3v_translate("%s: option '%s%s' doesn't allow an argument\n"), r->argv[0], dashes,
                     found->name);
      scan.rejected = found->val;
      return '?';
    }
    SHIM(optarg) = value + 1;
  } else if (found->has_arg == required_argument) {
    if (SHIM(optind) >= r->argc) {
      if (r->print)
        p3v_complain(p3v_translate("%s: option '%s%s' requires an argument\n"), r->argv[0], dashes,
                     found->name);
      scan.rejected = found->val;
      return r->missing;
    }
    SHIM(optarg) = r->argv[SHIM(optind)++];
  }
  if (r->index)
    *r->index = (int)(found - r->longs);
  if (!found->flag)
    return found->val;
  *found->flag = found->val;
  return 0;
}

static int missing_argument(const struct request *r, char letter) {
  if (r->print)
    p3v_complain(p3v_translate("%s: option requires an argument -- '%c'\n"), r->argv[0], letter);
  scan.rejected = letter;
  return r->missing;
}

/* Reads the next letter of scan.cluster. */
static int short_option(const struct request *r) {
  char letter = *scan.cluster++;
  const char *spec = strchr(r->shorts, letter);
  if (*scan.cluster == '\0')
    SHIM(optind)++;
  if (!spec || letter == ':' || letter == ';') {
    if (r->print)
      p3v_complain(p3v_translate("%s: invalid option -- '%c'\n"), r->argv[0], letter);
    scan.rejected = letter;
    return '?';
  }
  if (spec[0] == 'W' && spec[1] == ';' && r->longs) {
    if (*scan.cluster == '\0') {
      if (SHIM(optind) == r->argc)
        return missing_argument(r, letter);
      scan.cluster = r->argv[SHIM(optind)];
    }
    SHIM(optarg) = NULL;
    return long_option(r, false, "-W ");
  }
  if (spec[1] != ':')
    return letter;
  char *rest = scan.cluster;
  scan.cluster = NULL;
  if (*rest) {
    SHIM(optarg) = rest;
    SHIM(optind)++;
  } else if (spec[2] != ':') {
    if (SHIM(optind) == r->argc)
      return missing_argument(r, letter);
    SHIM(optarg) = r->argv[SHIM(optind)++];
  }
  return letter;
}

/* Goes to the argument that is to be read next, past non-options. False: the scan is over. */
static bool next_argument(const struct request *r) {
  /* The program may have set optind back. */
  if (scan.skipped_end > SHIM(optind))
    scan.skipped_end = SHIM(optind);
  if (scan.skipped > SHIM(optind))
    scan.skipped = SHIM(optind);

  if (scan.order == PERMUTE) {
    if (scan.skipped == scan.skipped_end)
      scan.skipped = SHIM(optind);
    else if (scan.skipped_end != SHIM(optind))
      move_skipped_back(r->argv);
    while (SHIM(optind) < r->argc && !is_option(r->argv[SHIM(optind)]))
      SHIM(optind)++;
    scan.skipped_end = SHIM(optind);
  }
  if (SHIM(optind) != r->argc && strcmp(r->argv[SHIM(optind)], "--") == 0) {
    SHIM(optind)++;
    if (scan.skipped == scan.skipped_end)
      scan.skipped = SHIM(optind);
    else if (scan.skipped_end != SHIM(optind))
      move_skipped_back(r->argv);
    scan.skipped_end = SHIM(optind) = r->argc;
  }
  if (SHIM(optind) != r->argc)
    return true;
  if (scan.skipped != scan.skipped_end)
    SHIM(optind) = scan.skipped;
  return false;
}

static int next_option(int argc, char **argv, const char *optstring, const struct option *longs, int *index,
                       bool long_only, bool posix) {
  if (argc < 1)
    return -1;
  SHIM(optarg) = NULL;
  if (SHIM(optind) == 0 || !scan.started)
    start(optstring, posix);
  if (*optstring == '-' || *optstring == '+')
    optstring++;
  bool quiet = *optstring == ':';
  struct request r = {argc, argv, optstring, longs, index, SHIM(opterr) && !quiet, quiet ? ':' : '?'};

  if (!scan.cluster || *scan.cluster == '\0') {
    if (!next_argument(&r))
      return -1;
    char *argument = argv[SHIM(optind)];
    if (!is_option(argument)) {
      if (scan.order == STOP)
        return -1;
      SHIM(optarg) = argument;
      SHIM(optind)++;
      return 1;
    }
    if (longs && argument[1] == '-') {
      scan.cluster = argument + 2;
      return long_option(&r, long_only, "--");
    }
    scan.cluster = argument + 1;
    if (longs && long_only && (argument[2] || !strchr(optstring, argument[1]))) {
      int code = long_option(&r, true, "-");
      if (code != -1)
        return code;
      scan.cluster = argument + 1;
    }
  }
  return short_option(&r);
}

static int publish(int code) {
  SHIM(optopt) = scan.rejected;
  return code;
}

int SHIM(getopt)(int argc, char *const *argv, const char *optstring) {
  return publish(next_option(argc, (char **)argv, optstring, NULL, NULL, false, false));
}

/* What a strict POSIX compilation calls for getopt. */
int SHIM(__posix_getopt)(int argc, char *const *argv, const char *optstring) {
  return publish(next_option(argc, (char **)argv, optstring, NULL, NULL, false, true));
}

int SHIM(getopt_long)(int argc, char *const *argv, const char *optstring, const struct option *longs,
                      int *index) {
  return publish(next_option(argc, (char **)argv, optstring, longs, index, false, false));
}

int SHIM(getopt_long_only)(int argc, char *const *argv, const char *optstring, const struct option *longs,
                           int *index) {
  return publish(next_option(argc, (char **)argv, optstring, longs, index, true, false));
}
