// An equal integer field: options of a string, once by comparisons and once by a table; fixed.
//@ klee: none --sym-args 1 1 4
//@ run: given
//@ args: w7h
//@ expect-specs: 1/0/0
//@ run: not given
//@ args: h
//@ run: twice
//@ args: w3w12
#include <p3.h>
#include <stdio.h>

struct layout {
  const char *text;
  int width;
  int hyphens;
};

static int number(const char **at) {
  int value = 0;
  while (**at >= '0' && **at <= '9')
    value = value * 10 + *(*at)++ - '0';
  return value;
}

static void parse(struct layout *layout, const char *text) {
  layout->text = text;
  layout->width = 72;
  layout->hyphens = 0;
#if V == 1
  while (*text) {
    char option = *text++;
    if (option == 'w')
      layout->width = number(&text);
    else if (option == 'h')
      layout->hyphens = 1;
  }
#else
  struct {
    char name;
    int *value;
  } options[] = {{'w', &layout->width}, {'h', &layout->hyphens}};
  while (*text) {
    char option = *text++;
    for (int i = 0; i < 2; i++)
#ifdef BUG
      if (options[i].name == option)
        *options[i].value = number(&text);
  }
  layout->hyphens = layout->hyphens != 0;
#else
      if (options[i].name == option)
        *options[i].value = option == 'w' ? number(&text) : 1;
  }
#endif
#endif
  pp_assert(PP1(layout->width) == PP2(layout->width) && PP1(layout)->hyphens == PP2(layout)->hyphens);
}

int main(int argc, char **argv) {
  struct layout layout;
  if (argc > 1) {
    parse(&layout, argv[1]);
    puts(layout.width > 40 ? "wide" : "narrow");
  }
  return 0;
}
