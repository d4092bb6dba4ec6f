// Structures by value: in registers, in memory, mixed, returned, through function pointers, in callbacks of libc.
//@ expect: output
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>

struct small { int a; char b; };
struct mixed { double d; long l; };
struct floats { float x, y, z; };
struct big { long values[9]; };
union either { double d; char c[12]; };

static struct small make_small(int a) { return (struct small){a, 'b'}; }
static struct mixed swap(struct mixed m) { return (struct mixed){m.l, m.d}; }
static struct floats scale(struct floats f, float by) { return (struct floats){f.x * by, f.y * by, f.z * by}; }
static struct big fill(struct big b, long with) {
  for (int i = 0; i < 9; i++)
    b.values[i] += with + i;
  return b;
}
static union either touch(union either e) { e.c[11] = 'z'; return e; }

int main(void) {
  struct big (*volatile indirect)(struct big, long) = fill;
  struct small s = make_small(V);
  struct mixed m = swap((struct mixed){1.5, 7});
  struct floats f = scale((struct floats){1, 2, 3}, 1.5f);
  struct big b = indirect(fill((struct big){{0}}, 10), 100);
  union either e = touch((union either){.c = "abc"});
  double complex z = (1 + 2 * I) * (3 - I);
  printf("%d%c %g %ld %g %g %g %ld %ld %s%c %g %g\n", s.a, s.b, m.d, m.l, f.x, f.y, f.z, b.values[0], b.values[8], e.c, e.c[11],
         creal(z), cimag(z));
  div_t q = div(17, 5);
  ldiv_t l = ldiv(-17, 5);
  printf("%d %d %ld %ld\n", q.quot, q.rem, l.quot, l.rem);
  return 0;
}
