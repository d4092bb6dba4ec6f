// A variadic function, which runs one version after the other, called from woven code and calling woven code.
//@ run: same
//@ args: 4
//@ run: differ
//@ args: 9
//@ expect: output
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int lines;

static void emit(const char *text) { printf("%d: %s\n", ++lines, text); }

static int say(const char *format, ...) {
  char text[64];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  emit(text);
  return length;
}

static long sum(int count, ...) {
  long total = 0;
  va_list args;
  va_start(args, count);
  for (int i = 0; i < count; i++)
    total += i % 2 ? (long)va_arg(args, double) : va_arg(args, int);
  va_end(args);
  return total;
}

int main(int argc, char **argv) {
  int n = atoi(argv[1]), length = 0;
  for (int i = 0; i < n; i++) {
    length += say("%d %s", i, V == 2 && i > 6 ? "large" : "value");
    length += sum(4, i, i * 1.5, 2, 3.5);
  }
  printf("%d\n", length);
  return 0;
}
