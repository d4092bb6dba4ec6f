// argp: options of two argps, help, usage, version and messages, exits of its own.
//@ args: -a --beta=2 x -c y --
//@ run: parsed
//@ run: help
//@ args: x --help -a
//@ run: short usage
//@ args: --usage
//@ run: version
//@ args: -V
//@ run: wrong option
//@ args: x --nix
//@ run: too many arguments
//@ args: 1 2 3 4
//@ run: error by the program
//@ args: -e
//@ run: failure with a status
//@ args: -f
//@ run: renamed
//@ args: --program-name=other/name -e
//@ run: the second version knows another option
//@ args: --delta
//@ expect: output
#include <argp.h>
#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>

#if V == 1
const char *argp_program_version = "argp case 1.0";
#else
const char *argp_program_version = "argp case 1." "0";
#endif
const char *argp_program_bug_address = "<nobody@example.org>";

static error_t parse_child(int key, char *argument, struct argp_state *state) {
  if (key == 'c')
    printf("c for %s\n", (char *)state->input);
  return key == 'c' ? 0 : ARGP_ERR_UNKNOWN;
}

static char *filter(int key, const char *text, void *input) {
  char *result = NULL;
  if (key == ARGP_KEY_HELP_POST_DOC && asprintf(&result, "%s (%s)", text, input ? (char *)input : "no input") < 0)
    return NULL;
  return result ? result : (char *)text;
}

static const struct argp_option child_options[] = {{"gamma", 'c', NULL, 0, "Third letter", 0}, {0}};
static const struct argp child = {child_options, parse_child, NULL, NULL, NULL, NULL, NULL};
static const struct argp_child children[] = {{&child, 0, "Of the child:", 0}, {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = "the child";
    return 0;
  case 'a':
  case 'b':
  case 300:
    printf("%c %s\n", key == 300 ? 'd' : key, argument ? argument : "none");
    return 0;
  case 'e':
    argp_error(state, "not %d", 5);
    return 0;
  case 'f':
    argp_failure(state, 3, ENOENT, "file %s", "x");
    return 0;
  case ARGP_KEY_ARG:
    if (state->arg_num >= 3)
      return ARGP_ERR_UNKNOWN;
    printf("argument %u %s\n", state->arg_num, argument);
    return 0;
  case ARGP_KEY_END:
    if (state->arg_num < 1)
      argp_usage(state);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_option options[] = {
    {"alpha", 'a', NULL, 0, "First letter", 0},
    {"beta", 'b', "NUMBER", OPTION_ARG_OPTIONAL, "Second letter, with a text that is so long that it must be wrapped", 0},
    {"error", 'e', NULL, 0, NULL, 1},
    {"fail", 'f', NULL, OPTION_HIDDEN, NULL, 1},
#if V == 2
    {"delta", 300, NULL, OPTION_HIDDEN, NULL, 1},
#endif
    {0},
};

static void bye(void) { printf("bye\n"); }

int main(int argc, char **argv) {
  struct argp argp = {options, parse, "FILE...", "What it does.\vMore about it.", children, filter, NULL};
  int end = -1;
  atexit(bye);
  error_t error = argp_parse(&argp, argc, argv, 0, argc > 4 ? NULL : &end, "the input");
  printf("%d %d %s\n", error, end, program_invocation_short_name);
  return 0;
}
