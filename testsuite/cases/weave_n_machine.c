// Three, four and eight versions of a state machine of functions that return the next one: the bits of V - 1 are
// patches.
//@ versions: 4 3 8
//@ run: words
//@ args: "ab cd"
//@ run: numbers
//@ args: "a1 23 b"
//@ expect: output
//@ run: strings
//@ args: "a 'b c' d"
//@ expect: output
//@ run: everything
//@ args: "x1 'y 2' 34z '"
//@ expect: output
#include <ctype.h>
#include <stdio.h>

#define PATCH_A ((V - 1) & 1)
#define PATCH_B ((V - 1) & 2)
#define PATCH_C ((V - 1) & 4)

struct step {
  struct step (*go)(char c);
};

static struct step between(char c);
static struct step in_word(char c);
static struct step in_number(char c);
static struct step in_string(char c);

static int tokens;

static void token(const char *kind) {
  tokens++;
  printf("%s;", kind);
}

static struct step between(char c) {
  if (isdigit((unsigned char)c)) {
    token("number");
    return (struct step){in_number};
  }
  if (PATCH_B && c == '\'')
    return (struct step){in_string};
  if (c && c != ' ') {
    token("word");
    return (struct step){in_word};
  }
  return (struct step){between};
}

static struct step in_word(char c) {
#if PATCH_C
  if (PATCH_A && isdigit((unsigned char)c))
    return between(c);
  if (c == ' ' || c == 0)
    return between(c);
  return (struct step){in_word};
#else
  if (c != ' ' && c != 0) {
    if (PATCH_A && isdigit((unsigned char)c))
      return between(c);
    return (struct step){in_word};
  }
  return between(c);
#endif
}

static struct step in_number(char c) { return isdigit((unsigned char)c) ? (struct step){in_number} : between(c); }

static struct step in_string(char c) {
  if (c == '\'') {
    token("string");
    return (struct step){between};
  }
  return (struct step){in_string};
}

int main(int argc, char **argv) {
  struct step step = {between};
  const char *s = argv[1];
  do {
    step = step.go(*s);
  } while (*s++);
  printf("%d%s\n", tokens, step.go == in_string ? " open" : "");
  return 0;
}
