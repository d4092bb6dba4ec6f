// Thread-local variables in every model, initialised and zero, with their addresses compared.
//@ expect: output
#include <stdio.h>

static __thread int zero;
static _Thread_local int start = 5;
__thread long shared __attribute__((tls_model("initial-exec"))) = 7;
_Thread_local struct {
  char name[8];
  int *self;
} record = {"tls"};

static int *next(void) {
  static _Thread_local int count = V == 2 ? 100 : 10;
  count++;
  return &count;
}

int main(void) {
  zero += start++;
  shared *= 2;
  record.self = &zero;
  next();
  printf("%d %d %ld %s %d %d %d\n", zero, start, shared, record.name, *record.self, *next(), next() == next());
  return 0;
}
