// Early exits of several kinds from loops in loops, each in one version only, over and over: versions part and meet
// many times, also where one is rounds ahead of the other.
//@ run: empty
//@ args: ""
//@ run: short
//@ args: abcab
//@ expect: output
//@ run: long
//@ args: a1b2c3a4b5c6zzzyx
//@ expect: output
//@ run: repeated
//@ args: 111aaa222bbb333cccz
//@ expect: output
#include <ctype.h>
#include <stdio.h>

static unsigned state = 1;

static unsigned step(unsigned x) {
  state = state * 1103515245 + 12345 + x;
  return state >> 16;
}

static int scan(const char *s, int depth) {
  int count = 0;
  for (; *s; s++) {
    if (V == 2 && isdigit((unsigned char)*s) && depth % 2)
      continue;
    for (int i = 0; i < *s % 5; i++) {
      if (V == 1 && i == 3 && *s == '3')
        break;
      if (step(i) % 7 == 0 && V == 2)
        goto next;
      if (*s == 'z' && depth > 1)
        return count;
      count++;
    }
    if (depth < 3 && *s == 'b')
      count += scan(s + 1, depth + 1);
    while (step(*s) % 3) {
      if (V == 2 && *s == 'y')
        return -count;
      count += 2;
    }
  next:
    printf("%c%d ", *s, count);
  }
  return count;
}

int main(int argc, char **argv) {
  printf("%d\n", scan(argv[1], 0));
  return 0;
}
