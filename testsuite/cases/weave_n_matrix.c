// Three, four and eight versions of matrix powers with early exits: the bits of V - 1 are patches.
//@ versions: 4 3 8
//@ run: small
//@ args: 2 3
//@ run: overflows
//@ args: 3 9
//@ expect: output
//@ run: zeros
//@ args: 0 4
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

#define PATCH_A ((V - 1) & 1)
#define PATCH_B ((V - 1) & 2)
#define PATCH_C ((V - 1) & 4)
#define SIZE 3

struct matrix {
  int cell[SIZE][SIZE];
};

static int multiplications;

static int dot(const struct matrix *a, const struct matrix *b, int row, int column) {
  int sum = 0;
  for (int k = 0; k < SIZE; k++) {
    if (PATCH_B && a->cell[row][k] == 0)
      continue;
    multiplications++;
    sum += a->cell[row][k] * b->cell[k][column];
    if (PATCH_A && sum > 10000) {
      sum = 10000;
      break;
    }
  }
  return sum % 100003;
}

static struct matrix product(struct matrix a, struct matrix b) {
  struct matrix result;
#if PATCH_C
  for (int i = 0; i < SIZE * SIZE; i++)
    result.cell[i / SIZE][i % SIZE] = dot(&a, &b, i / SIZE, i % SIZE);
#else
  for (int row = 0; row < SIZE; row++)
    for (int column = 0; column < SIZE; column++)
      result.cell[row][column] = dot(&a, &b, row, column);
#endif
  return result;
}

static struct matrix power(struct matrix m, int n) {
  if (n == 1)
    return m;
  struct matrix half = power(m, n / 2);
  struct matrix square = product(half, half);
  return n % 2 ? product(square, m) : square;
}

int main(int argc, char **argv) {
  struct matrix m;
  int seed = atoi(argv[1]);
  for (int row = 0; row < SIZE; row++)
    for (int column = 0; column < SIZE; column++)
      m.cell[row][column] = seed * (row + 1) + (seed ? column : 0);
  m = power(m, atoi(argv[2]));
  for (int row = 0; row < SIZE; row++)
    printf("%d %d %d\n", m.cell[row][0], m.cell[row][1], m.cell[row][2]);
  printf("%d\n", multiplications);
  return 0;
}
