// A conversion of one's own in printf: each version has the ones that it registered.
//@ run: same
//@ run: only the first version registers
//@ args: x
//@ expect: output
#include <printf.h>
#include <stdio.h>

struct point {
  int x, y;
};

static int convert(FILE *file, const struct printf_info *info, const void *const *arguments) {
  const struct point *point = *(const struct point **)arguments[0];
  return fprintf(file, info->alt ? "<%d;%d>" : "(%d, %d)", point->x, point->y);
}

static int describe(const struct printf_info *info, size_t count, int *types, int *sizes) {
  if (count > 0)
    types[0] = PA_POINTER;
  return 1;
}

int main(int argc, char **argv) {
  struct point point = {V == 2 ? 1 : 1, 2};
  const char *format = "%P %#P\n";
  printf(format, &point, &point);
  if (argc == 1 || V == 1)
    printf("%d\n", register_printf_specifier('P', convert, describe));
  printf(format, &point, &point);
  return 0;
}
