// Counts kinds of characters. The new version has another mark for texts to look at closely; what that changes is seen
// only at the end, and only in some texts.
#include <stdio.h>
#include <string.h>

#if V == 1
#define MARK '#'
#else
#define MARK '$'
#endif

enum kind { DIGIT, LOWER, UPPER, OTHER };

struct text {
  const char *mark; // NULL: none
  int marks, counts[OTHER + 1], runs;
};

static enum kind kind_of(int c) {
  if (c >= '0' && c <= '9')
    return DIGIT;
  if (c >= 'a' && c <= 'z')
    return LOWER;
  if (c >= 'A' && c <= 'Z')
    return UPPER;
  return OTHER;
}

static void set_mark(struct text *text, const char *at) {
  text->mark = at;
  text->marks++;
}

int main(int argc, char **argv) {
  if (argc != 2 || strlen(argv[1]) < 4)
    return 2;
  struct text text = {0};
  enum kind last = OTHER;
  for (const char *at = argv[1]; *at; at++) {
    enum kind kind = kind_of(*at);
    text.counts[kind]++;
    text.runs += kind != last;
    last = kind;
    if (at == argv[1] + 3 && *at == MARK)
      set_mark(&text, at);
  }
  if (text.mark && text.counts[DIGIT] == 2 && text.counts[UPPER] == 2 && last == UPPER)
    printf("marked %d\n", text.marks);
  else
    puts(text.runs > 3 ? "many" : "few");
  return 0;
}
