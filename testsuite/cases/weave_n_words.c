// Three, four (base, two variants, merge candidate) and eight versions of a word counter: the bits of V - 1 are patches.
//@ versions: 4 3 8
//@ run: nothing
//@ run: untouched by the patches
//@ stdin: pipe "one two\nthree\n"
//@ run: variant a
//@ stdin: pipe "one\ttwo\n\n three"
//@ expect: output
//@ run: variant b
//@ stdin: pipe "one\ntwo"
//@ expect: output
//@ run: both variants
//@ stdin: pipe "a b\tc\n\nd\t\te"
//@ expect: output
#include <stdio.h>

#define PATCH_A ((V - 1) & 1)
#define PATCH_B ((V - 1) & 2)
#define PATCH_C ((V - 1) & 4)

static int lines, words, bytes;

static int is_blank(int c) {
  if (PATCH_A && c == '\t')
    return 0;
  return c == ' ' || c == '\t' || c == '\n';
}

static void count(int c, int *in_word) {
  bytes++;
  if (c == '\n')
    lines++;
#if PATCH_C
  int blank = is_blank(c);
  words += !blank && !*in_word;
  *in_word = !blank;
#else
  if (is_blank(c)) {
    *in_word = 0;
  } else if (!*in_word) {
    *in_word = 1;
    words++;
  }
#endif
}

int main(void) {
  int c, last = '\n', in_word = 0;
  while ((c = getchar()) != EOF) {
    count(c, &in_word);
    last = c;
  }
  if (PATCH_B && last != '\n')
    lines++;
  printf("%d %d %d\n", lines, words, bytes);
  return 0;
}
