// A goto out of two loops: from the inner loop's beginning in one version, from its end in the other; and from a loop
// that is behind the first one.
//@ run: no target
//@ args: 9
//@ run: first cell
//@ args: 0
//@ expect: output
//@ run: a cell in the middle
//@ args: 4
//@ expect: output
//@ run: last cell
//@ args: 8
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

static int touched[9];

static void touch(int i) { touched[i]++; }

int main(int argc, char **argv) {
  int wanted = atoi(argv[1]), row, column, where = -1;
  for (row = 0; row < 3; row++) {
    for (column = 0; column < 3; column++) {
      int cell = 3 * row + column;
#if V == 1
      if (cell == wanted) {
        where = cell;
        goto out;
      }
      touch(cell);
#else
      touch(cell);
      if (cell == wanted) {
        where = cell + 100;
        goto out;
      }
#endif
    }
    printf("row %d\n", row);
  }
  puts("through");
  for (row = 0; row < 3; row++)
    for (column = 2; column >= 0; column--) {
      if (row + column == wanted - 6) {
        touch(row);
        goto out;
      }
      touch(3 * row + column);
    }
out:
  printf("%d at %d %d:", where, row, column);
  for (int i = 0; i < 9; i++)
    printf(" %d", touched[i]);
  puts("");
  return 0;
}
