/* The regular expression functions of GNU and BSD that have hidden state, per version: the syntax for
 * re_compile_pattern, and the pattern of re_comp. regcomp and regexec have none. */
#include "p3v_libc.h"
#include <regex.h>
#include <stdlib.h>
#include <string.h>

reg_syntax_t SHIM(re_syntax_options);

reg_syntax_t SHIM(re_set_syntax)(reg_syntax_t syntax) {
  reg_syntax_t before = SHIM(re_syntax_options);
  SHIM(re_syntax_options) = syntax;
  return before;
}

const char *SHIM(re_compile_pattern)(const char *pattern, size_t length, struct re_pattern_buffer *buffer) {
  p3v_attend();
  re_set_syntax(SHIM(re_syntax_options));
  return re_compile_pattern(pattern, length, buffer);
}

static struct re_pattern_buffer compiled;

char *SHIM(re_comp)(const char *pattern) {
  if (!pattern)
    return compiled.buffer ? NULL : (char *)p3v_translate("No previous regular expression");
  if (compiled.buffer) {
    char *map = compiled.fastmap;
    compiled.fastmap = NULL;
    regfree(&compiled);
    memset(&compiled, 0, sizeof compiled);
    compiled.fastmap = map;
  }
  if (!compiled.fastmap && !(compiled.fastmap = malloc(1 << 8)))
    return (char *)p3v_translate("Memory exhausted");
  return (char *)SHIM(re_compile_pattern)(pattern, strlen(pattern), &compiled);
}

int SHIM(re_exec)(const char *text) {
  p3v_attend();
  return regexec(&compiled, text, 0, NULL, 0) == 0;
}
