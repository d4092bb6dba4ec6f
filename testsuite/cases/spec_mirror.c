// The buffer mirrors the temporary unless the last character is a digit: a numbered name is written through a
// temporary now; fixed.
//@ merge: --check spec
//@ klee: none --sym-args 1 1 3
//@ run: letter
//@ args: abc
//@ expect-specs: 1/0/0
//@ run: digit
//@ args: ab7
//@ expect: output
//@ run: empty
//@ args: ""
#include <p3.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SIZE 16

static void name_copy(char *buffer, const char *name) {
  size_t length = strlen(name) < SIZE - 2 ? strlen(name) : SIZE - 2;
#if V == 1
  memcpy(buffer, name, length);
  buffer[length] = 0;
#else
  char temporary[SIZE];
  memcpy(temporary, name, length);
  temporary[length] = 0;
  char last = length ? temporary[length - 1] : 0;
  strcpy(buffer, temporary);
  /* "ab7" is "ab7_", so that a number can follow. */
#ifdef BUG
  if (last >= '0' && last <= ':')
#else
  if (last >= '0' && last <= '9')
#endif
    strcat(buffer, "_");
  pp_assert(PP2(last >= '0' && last <= '9') || strcmp(PP2(buffer), PP2(temporary)) == 0);
#endif
}

int main(int argc, char **argv) {
  char buffer[SIZE];
  if (argc > 1) {
    name_copy(buffer, argv[1]);
    puts(buffer);
  }
  return 0;
}
