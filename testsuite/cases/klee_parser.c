// A recursive-descent parser over a symbolic string, woven with itself: as many paths as alone.
//@ run: valid
//@ args: 1+(2*3)
//@ run: not valid
//@ args: 1+*
//@ klee: paths-equal --sym-arg 3
static const char *at;
static int failed;

static int sum(int depth);

static int atom(int depth) {
  if (depth > 6) {
    failed = 1;
    return 0;
  }
  if (*at == '(') {
    at++;
    int value = sum(depth + 1);
    if (*at == ')')
      at++;
    else
      failed = 1;
    return value;
  }
  if (*at == '-') {
    at++;
    return -atom(depth + 1);
  }
  if (*at < '0' || *at > '9') {
    failed = 1;
    return 0;
  }
  int value = 0;
  while (*at >= '0' && *at <= '9')
    value = 10 * value + (*at++ - '0');
  return value;
}

static int product(int depth) {
  int value = atom(depth);
  while (*at == '*' || *at == '/') {
    char sign = *at++;
    int other = atom(depth);
    if (sign == '*')
      value *= other;
    else if (other)
      value /= other;
    else
      failed = 1;
  }
  return value;
}

static int sum(int depth) {
  int value = product(depth);
  while (*at == '+' || *at == '-') {
    char sign = *at++;
    int other = product(depth);
    value += sign == '+' ? other : -other;
  }
  return value;
}

int main(int argc, char **argv) {
  at = argc > 1 ? argv[1] : "";
  int value = sum(0);
  if (*at || failed)
    return 2;
  return value > 10;
}
