// Paths that end by exit at any depth, and write nothing, woven with itself: no more costs than where they return.
//@ run: valid
//@ args: [1,{t,f},-2]
//@ run: a list that does not end
//@ args: [[1,2
//@ run: too deep
//@ args: [[[[[[[1]]]]]]]
//@ run: something behind it
//@ args: 12]
//@ klee: paths-equal --sym-arg 3
#include <stdlib.h>

static const char *at;
static int depth;

static int value(void);

static void refuse(int status) { exit(status); }

static int list(char end) {
  int sum = 0;
  if (*at == end) {
    at++;
    return 0;
  }
  for (;;) {
    sum += value();
    if (*at == end) {
      at++;
      return sum;
    }
    if (*at++ != ',')
      refuse(2);
  }
}

static int value(void) {
  int result = 0;
  if (++depth > 6)
    refuse(3);
  switch (*at) {
  case '[':
    at++;
    result = list(']');
    break;
  case '{':
    at++;
    result = 2 * list('}');
    break;
  case '-':
    at++;
    result = -value();
    break;
  case 't':
    result = 1; /* fall through */
  case 'f':
    at++;
    break;
  default:
    if (*at < '0' || *at > '9')
      refuse(4);
    while (*at >= '0' && *at <= '9')
      result = 10 * result + *at++ - '0';
  }
  depth--;
  return result;
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 9;
  at = argv[1];
  int result = value();
  if (*at)
    refuse(5);
  return result & 1;
}
