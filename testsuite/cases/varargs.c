// Variadic functions: integers, doubles, structures, va_copy, and the v functions of stdio.
//@ expect: output
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct pair {
  long a;
  double b;
};

static double sum(const char *kinds, ...) {
  va_list list, copy;
  double total = 0;
  va_start(list, kinds);
  va_copy(copy, list);
  for (const char *kind = kinds; *kind; kind++)
    switch (*kind) {
    case 'i':
      total += va_arg(list, int);
      break;
    case 'd':
      total += va_arg(list, double);
      break;
    case 'l':
      total += va_arg(list, long double);
      break;
    case 'p': {
      struct pair pair = va_arg(list, struct pair);
      total += pair.a * pair.b;
      break;
    }
    }
  va_end(list);
  if (kinds[0] == 'i')
    total += va_arg(copy, int);
  va_end(copy);
  return total;
}

__attribute__((format(printf, 2, 3))) static int say(FILE *file, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int length = vfprintf(file, format, list);
  va_end(list);
  return length;
}

int main(void) {
  printf("%g\n", sum("idlp", 1, 2.5, 3.25L, (struct pair){4, 0.5}));
  printf("%g\n", sum("iiiiiiiidddddddddd", 1, 2, 3, 4, 5, 6, 7, 8, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.0 * V));
  printf("%d\n", say(stdout, "%s %*d %-5s| %lld %Lg %c\n", "text", 6, 42, "ab", 1LL << 40, 2.5L, 'x'));
  char *text;
  int length = asprintf(&text, "%08.3f %#x %n", 3.14159, 255, &(int){0});
  printf("%d %s\n", length, text);
  free(text);
  return 0;
}
