// Wraps text at a width, as fmt does. Version 2 fixes the room for the blank before a word. The README shows it.
//@ run: short lines
//@ args: 40
//@ stdin: file "The quick brown fox\njumps over the lazy dog.\n"
//@ run: a line that is exactly full
//@ args: 9
//@ stdin: file "The quick brown fox\njumps over the lazy dog.\n"
//@ expect: output
//@ expect-check: p3: ...stdout...
//@ run: bad width
//@ args: x
//@ klee: difference --sym-args 1 1 1 --sym-stdin 4
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int column;

static void put_word(const char *word, int width) {
  int length = strlen(word);
#if V == 1
  int room = width - column;
#else
  int room = width - column - (column > 0);
#endif
  if (column > 0 && length > room) {
    putchar('\n');
    column = 0;
  }
  column += printf("%s%s", column > 0 ? " " : "", word);
}

int main(int argc, char **argv) {
  char word[200];
  int width = argc > 1 ? atoi(argv[1]) : 72;
  if (width < 1) {
    fprintf(stderr, "usage: %s WIDTH\n", argv[0]);
    return 2;
  }
  while (scanf("%199s", word) == 1)
    put_word(word, width);
  if (column > 0)
    putchar('\n');
  return 0;
}
