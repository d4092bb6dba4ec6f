// Three, four and eight versions of sorting programs: the bits of V - 1 are patches, one of them only another algorithm.
//@ versions: 4 3 8
//@ run: in order
//@ args: 1 2 3
//@ run: any order
//@ args: 5 3 9 1 7 2 8
//@ run: equal numbers
//@ args: 5 3 5 1 3
//@ expect: output
//@ run: negative numbers
//@ args: 5 -3 -5 1
//@ expect: output
#include <stdio.h>
#include <stdlib.h>

#define PATCH_A ((V - 1) & 1)
#define PATCH_B ((V - 1) & 2)
#define PATCH_C ((V - 1) & 4)

struct item {
  int value, index;
};

static int before(const struct item *a, const struct item *b) {
  int x = a->value, y = b->value;
  if (PATCH_B) {
    x = abs(x);
    y = abs(y);
  }
  return x != y ? x < y : a->index < b->index;
}

#if PATCH_C
static void sift(struct item *items, int root, int count) {
  for (;;) {
    int child = 2 * root + 1;
    if (child >= count)
      return;
    if (child + 1 < count && before(&items[child], &items[child + 1]))
      child++;
    if (!before(&items[root], &items[child]))
      return;
    struct item item = items[root];
    items[root] = items[child];
    items[child] = item;
    root = child;
  }
}
#endif

static void sort(struct item *items, int count) {
#if PATCH_C
  for (int i = count / 2 - 1; i >= 0; i--)
    sift(items, i, count);
  for (int i = count - 1; i > 0; i--) {
    struct item item = items[0];
    items[0] = items[i];
    items[i] = item;
    sift(items, 0, i);
  }
#else
  for (int i = 1; i < count; i++) {
    struct item item = items[i];
    int j = i;
    for (; j > 0 && before(&item, &items[j - 1]); j--)
      items[j] = items[j - 1];
    items[j] = item;
  }
#endif
}

int main(int argc, char **argv) {
  struct item *items = malloc(argc * sizeof *items);
  int count = argc - 1;
  for (int i = 0; i < count; i++)
    items[i] = (struct item){atoi(argv[i + 1]), i};
  sort(items, count);
  for (int i = 0; i < count; i++) {
    if (PATCH_A && i > 0 && items[i].value == items[i - 1].value)
      continue;
    printf("%d from %d\n", items[i].value, items[i].index);
  }
  free(items);
  return 0;
}
