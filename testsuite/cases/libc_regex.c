// re_comp's pattern and the syntax of re_compile_pattern.
//@ run: same
//@ run: the second version has another syntax
//@ args: x
//@ expect: output
#define _REGEX_RE_COMP
#include <regex.h>
#include <stdio.h>
#include <string.h>

static void search(const char *pattern, const char *text) {
  struct re_pattern_buffer buffer;
  memset(&buffer, 0, sizeof buffer);
  const char *problem = re_compile_pattern(pattern, strlen(pattern), &buffer);
  printf("%s\n", problem ? problem : "compiled");
  if (!problem)
    printf("%d\n", (int)re_search(&buffer, text, (int)strlen(text), 0, (int)strlen(text), NULL));
}

int main(int argc, char **argv) {
  char *problem = re_comp(NULL);
  printf("%s\n", problem ? problem : "fine");
  printf("%lx\n", re_syntax_options);
  search("(a|b)+c", "xx(a|b)+c");
  re_set_syntax(argc > 1 && V == 2 ? RE_SYNTAX_GREP : RE_SYNTAX_POSIX_EXTENDED);
  search("(a|b)+c", "xxabac");
  re_syntax_options = RE_SYNTAX_EMACS;
  search("\\(a\\|b\\)+c", "xabac");
  printf("%s\n", re_comp("x[a-c]*y") ? "?" : "fine");
  printf("%d %d\n", re_exec("..xabcy.."), re_exec("xz"));
  problem = re_comp("[");
  printf("%s\n", problem ? problem : "fine");
  return 0;
}
