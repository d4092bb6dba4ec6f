/* argp, per version: the parser, and the functions that print a message and may exit.
 *
 * libc's would read options with messages on the process's stderr and end the whole product at --help
 * or a wrong option. Only the layout of help texts is left to libc: argp_help, which keeps no state of
 * a version and never exits. What the program defines for libc (argp_program_version and so on)
 * reaches this file, since a version's own definition of a variable replaces the shim. */
#include "p3v_getopt.h"
#include "p3v_libc.h"
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

const char *SHIM(argp_program_version);
void (*SHIM(argp_program_version_hook))(FILE *stream, struct argp_state *state);
const char *SHIM(argp_program_bug_address);
error_t SHIM(argp_err_exit_status) = EX_USAGE;

/* libc's own, which its argp_help prints. klee-uclibc has none. */
#pragma weak argp_program_bug_address

/* One argp of the tree that takes part in parsing. */
struct group {
  const struct argp *argp;
  const char *shorts_end; /* its short options end here in the scanner's */
  unsigned arguments;     /* how many it has taken */
  struct group *parent;
  unsigned parent_index;
  void *input, **child_inputs, *hook;
};

struct parser {
  struct p3v_getopt scan;
  struct argp_state state;
  char *shorts;
  struct option *longs;
  size_t long_count;
  struct group *groups;
  size_t group_count;
  bool options; /* false: only arguments are left */
};

/* A long option's value: the number of its group plus 1 above the key. */
#define KEY_BITS 24
#define KEY_MASK ((1 << KEY_BITS) - 1)

static int key_of(int value) { return (int)((unsigned)value << (32 - KEY_BITS)) >> (32 - KEY_BITS); }

static bool is_end(const struct argp_option *option) {
  return !option->key && !option->name && !option->doc && !option->group;
}

static bool is_short(const struct argp_option *option) {
  return !(option->flags & OPTION_DOC) && option->key > 0 && option->key <= UCHAR_MAX && isprint(option->key);
}

static bool takes_part(const struct argp *argp) { return argp->options || argp->parser; }

struct size {
  size_t groups, options, children;
};

static void measure(const struct argp *argp, struct size *size) {
  size->groups += takes_part(argp);
  for (const struct argp_option *option = argp->options; option && !is_end(option); option++)
    size->options++;
  for (const struct argp_child *child = argp->children; child && child->argp; child++) {
    size->children++;
    measure(child->argp, size);
  }
}

static bool has_long(const struct parser *parser, const char *name) {
  for (size_t i = 0; i < parser->long_count; i++)
    if (strcmp(parser->longs[i].name, name) == 0)
      return true;
  return false;
}

static void add_options(struct parser *parser, char **shorts, const struct argp *argp) {
  const struct argp_option *real = argp->options;
  for (const struct argp_option *option = real; option && !is_end(option); option++) {
    if (!(option->flags & OPTION_ALIAS))
      real = option;
    if (real->flags & OPTION_DOC)
      continue;
    bool optional = real->flags & OPTION_ARG_OPTIONAL;
    if (is_short(option)) {
      *(*shorts)++ = (char)option->key;
      if (real->arg)
        *(*shorts)++ = ':';
      if (real->arg && optional)
        *(*shorts)++ = ':';
      **shorts = '\0';
    }
    if (option->name && !has_long(parser, option->name)) {
      int argument = !real->arg ? no_argument : optional ? optional_argument : required_argument;
      int key = option->key ? option->key : real->key;
      parser->longs[parser->long_count++] = (struct option){
          option->name, argument, NULL, (key & KEY_MASK) + (int)((parser->group_count + 1) << KEY_BITS)};
    }
  }
}

static void add_groups(struct parser *parser, char **shorts, void ***inputs, const struct argp *argp,
                       struct group *parent, unsigned index) {
  struct group *group = NULL;
  if (takes_part(argp)) {
    add_options(parser, shorts, argp);
    group = &parser->groups[parser->group_count++];
    *group = (struct group){.argp = argp, .shorts_end = *shorts, .parent = parent, .parent_index = index};
    group->child_inputs = argp->children ? *inputs : NULL;
  }
  for (unsigned i = 0; argp->children && argp->children[i].argp; i++) {
    if (group)
      *(*inputs)++ = NULL;
  }
  for (unsigned i = 0; argp->children && argp->children[i].argp; i++)
    add_groups(parser, shorts, inputs, argp->children[i].argp, group, i);
}

static error_t ask(struct parser *parser, struct group *group, int key, char *argument) {
  if (!group->argp->parser)
    return ARGP_ERR_UNKNOWN;
  struct argp_state *state = &parser->state;
  state->hook = group->hook;
  state->input = group->input;
  state->child_inputs = group->child_inputs;
  state->arg_num = group->arguments;
  error_t error = group->argp->parser(key, argument, state);
  group->hook = state->hook;
  return error;
}

/* Hands inputs down the tree and lets every group prepare itself. */
static error_t initialise(struct parser *parser, void *input) {
  error_t error = 0;
  if (parser->group_count)
    parser->groups[0].input = input;
  for (size_t i = 0; i < parser->group_count && (!error || error == ARGP_ERR_UNKNOWN); i++) {
    struct group *group = &parser->groups[i];
    if (group->parent)
      group->input = group->parent->child_inputs[group->parent_index];
    if (!group->argp->parser && group->argp->children && group->argp->children->argp)
      group->child_inputs[0] = group->input;
    error = ask(parser, group, ARGP_KEY_INIT, NULL);
  }
  return error == ARGP_ERR_UNKNOWN ? 0 : error;
}

static error_t parse_argument(struct parser *parser, char *argument) {
  struct argp_state *state = &parser->state;
  int place = --state->next;
  int key = 0;
  error_t error = ARGP_ERR_UNKNOWN;
  struct group *group = parser->groups, *end = group + parser->group_count;
  for (; group < end && state->next == place && error == ARGP_ERR_UNKNOWN; group++) {
    state->next++;
    key = ARGP_KEY_ARG;
    error = ask(parser, group, key, argument);
    if (error == ARGP_ERR_UNKNOWN) {
      state->next--;
      key = ARGP_KEY_ARGS;
      error = ask(parser, group, key, NULL);
    }
  }
  if (error)
    return error;
  if (key == ARGP_KEY_ARGS)
    state->next = state->argc;
  if (state->next > place)
    group[-1].arguments += (unsigned)(state->next - place);
  else
    parser->options = true; /* It was put back: it is to be looked at again. */
  return 0;
}

void SHIM(argp_error)(const struct argp_state *state, const char *format, ...);

static error_t parse_option(struct parser *parser, int value, char *argument) {
  error_t error = ARGP_ERR_UNKNOWN;
  int number = value >> KEY_BITS;
  if (number == 0) {
    const char *letter = strchr(parser->shorts, value);
    for (size_t i = 0; letter && i < parser->group_count; i++)
      if (parser->groups[i].shorts_end > letter) {
        error = ask(parser, &parser->groups[i], value, argument);
        break;
      }
  } else {
    error = ask(parser, &parser->groups[number - 1], key_of(value), argument);
  }
  if (error != ARGP_ERR_UNKNOWN)
    return error;

  const char *fault = "(PROGRAM ERROR) Option should have been recognized!?";
  if (number == 0) {
    SHIM(argp_error)(&parser->state, "-%c: %s", value, p3v_translate(fault));
  } else {
    const struct option *option = parser->longs;
    while (option->name && option->val != value)
      option++;
    SHIM(argp_error)(&parser->state, "--%s: %s", option->name ? option->name : "???", p3v_translate(fault));
  }
  return error;
}

/* Reads the next option or argument. *is_argument: whether ARGP_ERR_UNKNOWN is about an argument. */
static error_t parse_next(struct parser *parser, bool *is_argument) {
  struct argp_state *state = &parser->state;
  int value = -1;
  if (state->quoted && state->next < state->quoted)
    state->quoted = 0;
  if (parser->options && !state->quoted) {
    parser->scan.index = state->next;
    parser->scan.rejected = -1;
    value = p3v_getopt_next(&parser->scan, state->argc, state->argv, parser->shorts, parser->longs, NULL,
                            state->flags & ARGP_LONG_ONLY, false);
    state->next = parser->scan.index;
    if (value == -1) {
      parser->options = false;
      if (state->next > 1 && strcmp(state->argv[state->next - 1], "--") == 0)
        state->quoted = state->next;
    } else if (value == '?' && parser->scan.rejected != -1) {
      *is_argument = false;
      return ARGP_ERR_UNKNOWN;
    }
  }
  char *argument = parser->scan.argument;
  if (value == -1) {
    *is_argument = true;
    if (state->next >= state->argc || (state->flags & ARGP_NO_ARGS))
      return ARGP_ERR_UNKNOWN;
    value = 1;
    argument = state->argv[state->next++];
  }
  *is_argument = value == 1;
  return value == 1 ? parse_argument(parser, argument) : parse_option(parser, value, argument);
}

void SHIM(argp_state_help)(const struct argp_state *state, FILE *stream, unsigned flags);

/* Tells the groups how parsing has ended. */
static error_t finish(struct parser *parser, error_t error, bool is_argument, int *end_index) {
  struct argp_state *state = &parser->state;
  struct group *first = parser->groups, *end = first + parser->group_count;
  if (error == ARGP_ERR_UNKNOWN && is_argument)
    error = 0;
  if (!error && state->next == state->argc) {
    for (struct group *group = first; group < end && (!error || error == ARGP_ERR_UNKNOWN); group++)
      if (group->arguments == 0)
        error = ask(parser, group, ARGP_KEY_NO_ARGS, NULL);
    for (struct group *group = end; group > first && (!error || error == ARGP_ERR_UNKNOWN);)
      error = ask(parser, --group, ARGP_KEY_END, NULL);
    if (error == ARGP_ERR_UNKNOWN)
      error = 0;
    if (end_index)
      *end_index = state->next;
  } else if (!error && end_index) {
    *end_index = state->next;
  } else if (!error) {
    if (!(state->flags & ARGP_NO_ERRS) && state->err_stream)
      p3v_say(state->err_stream, p3v_translate("%s: Too many arguments\n"), state->name);
    error = ARGP_ERR_UNKNOWN;
  }

  if (error) {
    if (error == ARGP_ERR_UNKNOWN)
      SHIM(argp_state_help)(state, state->err_stream, ARGP_HELP_STD_ERR);
    for (struct group *group = first; group < end; group++)
      ask(parser, group, ARGP_KEY_ERROR, NULL);
  } else {
    for (struct group *group = end; group > first && (!error || error == ARGP_ERR_UNKNOWN);)
      error = ask(parser, --group, ARGP_KEY_SUCCESS, NULL);
    if (error == ARGP_ERR_UNKNOWN)
      error = 0;
  }
  for (struct group *group = end; group > first;)
    ask(parser, --group, ARGP_KEY_FINI, NULL);
  return error == ARGP_ERR_UNKNOWN ? EINVAL : error;
}

enum { PROGRAM_NAME = -2, USAGE = -3, HANG = -4 };

static const struct argp_option default_options[] = {
    {"help", '?', NULL, 0, "Give this help list", -1},
    {"usage", USAGE, NULL, 0, "Give a short usage message", 0},
    {"program-name", PROGRAM_NAME, "NAME", OPTION_HIDDEN, "Set the program name", 0},
    {"HANG", HANG, "SECS", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, "Hang for SECS seconds (default 3600)", 0},
    {0},
};

static error_t parse_default(int key, char *argument, struct argp_state *state) {
  switch (key) {
  case '?':
    SHIM(argp_state_help)(state, state->out_stream, ARGP_HELP_STD_HELP);
    return 0;
  case USAGE:
    SHIM(argp_state_help)(state, state->out_stream, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
    return 0;
  case PROGRAM_NAME: {
    char *slash = strrchr(argument, '/');
    SHIM(program_invocation_name) = argument;
    state->name = SHIM(program_invocation_short_name) = slash ? slash + 1 : argument;
    if ((state->flags & (ARGP_PARSE_ARGV0 | ARGP_NO_ERRS)) == ARGP_PARSE_ARGV0)
      state->argv[0] = argument;
    return 0;
  }
  case HANG:
    for (int left = atoi(argument ? argument : "3600"); left > 0; left--)
      sleep(1);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp default_argp = {default_options, parse_default, NULL, NULL, NULL, NULL, "libc"};

static const struct argp_option version_options[] = {
    {"version", 'V', NULL, 0, "Print program version", -1},
    {0},
};

static error_t parse_version(int key, char *argument, struct argp_state *state) {
  (void)argument;
  if (key != 'V')
    return ARGP_ERR_UNKNOWN;
  if (SHIM(argp_program_version_hook))
    SHIM(argp_program_version_hook)(state->out_stream, state);
  else if (SHIM(argp_program_version))
    p3v_say(state->out_stream, "%s\n", SHIM(argp_program_version));
  else
    SHIM(argp_error)(state, "%s", p3v_translate("(PROGRAM ERROR) No version known!?"));
  if (!(state->flags & ARGP_NO_EXIT))
    SHIM(exit)(0);
  return 0;
}

static const struct argp version_argp = {version_options, parse_version, NULL, NULL, NULL, NULL, "libc"};

static char *short_name(int argc, char **argv) {
  if (argc < 1 || !argv[0])
    return SHIM(program_invocation_short_name);
  char *slash = strrchr(argv[0], '/');
  return slash ? slash + 1 : argv[0];
}

error_t SHIM(argp_parse)(const struct argp *argp, int argc, char **argv, unsigned flags, int *end_index,
                         void *input) {
  struct argp_child children[4] = {{.argp = argp}, {.argp = &default_argp}};
  struct argp top = {.children = children};
  if (!(flags & ARGP_NO_HELP)) {
    if (SHIM(argp_program_version) || SHIM(argp_program_version_hook))
      children[2].argp = &version_argp;
    argp = &top;
  }

  struct size size = {0};
  if (argp)
    measure(argp, &size);
  struct parser parser = {.options = true};
  parser.groups = calloc(size.groups + 1, sizeof *parser.groups);
  parser.longs = calloc(size.options + 1, sizeof *parser.longs);
  parser.shorts = calloc(3 * size.options + 2, 1);
  void **inputs = calloc(size.children + 1, sizeof *inputs), **next_input = inputs;
  error_t error = ENOMEM;
  if (parser.groups && parser.longs && parser.shorts && inputs) {
    char *shorts = parser.shorts;
    if (flags & ARGP_IN_ORDER)
      *shorts++ = '-';
    else if (flags & ARGP_NO_ARGS)
      *shorts++ = '+';
    if (argp)
      add_groups(&parser, &shorts, &next_input, argp, NULL, 0);

    parser.scan.report = !(flags & ARGP_NO_ERRS);
    parser.state = (struct argp_state){.root_argp = argp,
                                       .argc = argc,
                                       .argv = argv,
                                       .flags = flags,
                                       .name = short_name(argc, argv),
                                       .err_stream = SHIM(stderr),
                                       .out_stream = SHIM(stdout),
                                       .pstate = &parser};
    if ((flags & ARGP_NO_ERRS) && (flags & ARGP_PARSE_ARGV0)) {
      /* The scanner skips argv[0], so it is told of one before. */
      parser.state.argv--;
      parser.state.argc++;
      parser.state.name = SHIM(program_invocation_short_name);
    }
    error = initialise(&parser, input);
    if (!error) {
      bool is_argument = false;
      while (!error)
        error = parse_next(&parser, &is_argument);
      error = finish(&parser, error, is_argument, end_index);
    }
  }
  free(parser.groups);
  free(parser.longs);
  free(parser.shorts);
  free(inputs);
  return error;
}

/* Help filters take the input of their argp, which libc's argp_help finds only with a state of its own
 * making: it gets a copy of the tree whose filters find theirs in this table. */
#define FILTERS 8
static struct {
  char *(*filter)(int key, const char *text, void *input);
  void *input;
} filters[FILTERS];

#define FILTER(i)                                                                                            \
  static char *filter_##i(int key, const char *text, void *input) {                                          \
    (void)input;                                                                                             \
    return filters[i].filter(key, text, filters[i].input);                                                   \
  }
FILTER(0)
FILTER(1)
FILTER(2)
FILTER(3)
FILTER(4)
FILTER(5)
FILTER(6)
FILTER(7)

static bool has_filter(const struct argp *argp) {
  bool found = argp->help_filter != NULL;
  for (const struct argp_child *child = argp->children; !found && child && child->argp; child++)
    found = has_filter(child->argp);
  return found;
}

static void *input_of(const struct argp_state *state, const struct argp *argp) {
  const struct parser *parser = state->pstate;
  for (size_t i = 0; i < parser->group_count; i++)
    if (parser->groups[i].argp == argp)
      return parser->groups[i].input;
  return NULL;
}

/* A copy of the tree, which is not freed: help is printed once as a rule. Null: no memory. */
static struct argp *with_inputs(const struct argp_state *state, const struct argp *argp, int *used) {
  static char *(*const trampolines[FILTERS])(int, const char *, void *) = {
      filter_0, filter_1, filter_2, filter_3, filter_4, filter_5, filter_6, filter_7};
  size_t count = 0;
  while (argp->children && argp->children[count].argp)
    count++;
  struct argp *copy = malloc(sizeof *copy);
  struct argp_child *children = calloc(count + 1, sizeof *children);
  if (!copy || !children) {
    free(copy);
    free(children);
    return NULL;
  }
  *copy = *argp;
  if (argp->help_filter && *used < FILTERS) {
    filters[*used].filter = argp->help_filter;
    filters[*used].input = input_of(state, argp);
    copy->help_filter = trampolines[(*used)++];
  }
  if (argp->children)
    copy->children = children;
  for (size_t i = 0; i < count; i++) {
    children[i] = argp->children[i];
    children[i].argp = with_inputs(state, argp->children[i].argp, used);
    if (!children[i].argp)
      return NULL;
  }
  return copy;
}

void SHIM(argp_help)(const struct argp *argp, FILE *stream, unsigned flags, char *name) {
  if (p3_in_klee())
    return;
  p3v_own();
  if (&argp_program_bug_address)
    argp_program_bug_address = SHIM(argp_program_bug_address);
  argp_help(argp, stream, flags, name);
}

void SHIM(argp_state_help)(const struct argp_state *state, FILE *stream, unsigned flags) {
  if ((state && (state->flags & ARGP_NO_ERRS)) || !stream)
    return;
  if (state && (state->flags & ARGP_LONG_ONLY))
    flags |= ARGP_HELP_LONG_ONLY;
  const struct argp *argp = state ? state->root_argp : NULL;
  int used = 0;
  if (argp && has_filter(argp)) {
    const struct argp *copy = with_inputs(state, argp, &used);
    if (copy)
      argp = copy;
  }
  SHIM(argp_help)(argp, stream, flags, state ? state->name : SHIM(program_invocation_short_name));
  if (state && (state->flags & ARGP_NO_EXIT))
    return;
  if (flags & ARGP_HELP_EXIT_ERR)
    SHIM(exit)(SHIM(argp_err_exit_status));
  else if (flags & ARGP_HELP_EXIT_OK)
    SHIM(exit)(0);
}

void SHIM(argp_usage)(const struct argp_state *state) {
  SHIM(argp_state_help)(state, SHIM(stderr), ARGP_HELP_STD_USAGE);
}

void SHIM(argp_error)(const struct argp_state *state, const char *format, ...) {
  FILE *stream = state ? state->err_stream : SHIM(stderr);
  if ((state && (state->flags & ARGP_NO_ERRS)) || !stream)
    return;
  va_list args;
  va_start(args, format);
  p3v_say(stream, "%s: ", state ? state->name : SHIM(program_invocation_short_name));
  p3v_vsay(stream, format, args);
  p3v_say(stream, "\n");
  va_end(args);
  SHIM(argp_state_help)(state, stream, ARGP_HELP_STD_ERR);
}

void SHIM(argp_failure)(const struct argp_state *state, int status, int number, const char *format, ...) {
  FILE *stream = state ? state->err_stream : SHIM(stderr);
  if ((state && (state->flags & ARGP_NO_ERRS)) || !stream)
    return;
  p3v_say(stream, "%s", state ? state->name : SHIM(program_invocation_short_name));
  if (format) {
    va_list args;
    va_start(args, format);
    p3v_say(stream, ": ");
    p3v_vsay(stream, format, args);
    va_end(args);
  }
  if (number)
    p3v_say(stream, ": %s", SHIM(strerror)(number));
  p3v_say(stream, "\n");
  if (status && (!state || !(state->flags & ARGP_NO_EXIT)))
    SHIM(exit)(status);
}
