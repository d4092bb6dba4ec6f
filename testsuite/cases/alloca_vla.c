// alloca in a loop, variable-length arrays whose scope ends, arrays as parameters.
//@ args: 5
//@ expect: output
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long sum(int n, int m, int grid[n][m]) {
  long total = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      total += grid[i][j];
  return total;
}

int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  char *list[16];
  for (int i = 0; i < n; i++) {
    list[i] = alloca(i + 2);
    memset(list[i], 'a' + i, i + 1);
    list[i][i + 1] = 0;
  }
  for (int i = 0; i < n; i++)
    printf("%s ", list[i]);
  long total = 0;
  for (int size = 1; size < 2000; size += 37) {
    int grid[n][size];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < size; j++)
        grid[i][j] = i * j + V;
    total += sum(n, size, grid);
  }
  printf("%ld\n", total);
  return 0;
}
