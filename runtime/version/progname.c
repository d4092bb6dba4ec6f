/* The program's names, per version: a version may assign them, and messages begin with them. */
#include "p3v_libc.h"
#include <string.h>

char *SHIM(program_invocation_name) = "";
char *SHIM(program_invocation_short_name) = "";
extern char *SHIM(__progname_full) __attribute__((alias("p3_shim_program_invocation_name")));
extern char *SHIM(__progname) __attribute__((alias("p3_shim_program_invocation_short_name")));

void p3v_progname_init(int argc, char **argv) {
  if (argc < 1 || !argv[0])
    return;
  char *slash = strrchr(argv[0], '/');
  SHIM(program_invocation_name) = argv[0];
  SHIM(program_invocation_short_name) = slash ? slash + 1 : argv[0];
}
