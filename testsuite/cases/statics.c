// Globals, statics of the same name in different functions, tables of pointers to them, and the heap.
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int counter = 1;
static int *const pointer = &counter;
static const char *names[] = {"zero", "one", "two"};
static struct node {
  struct node *next;
  const char *name;
} list = {&list, "ring"};

static int f(void) { static int counter = 10; return counter++; }
static int g(void) { static int counter = 20; return counter++; }
static int (*const table[])(void) = {f, g};

int main(void) {
  for (int i = 0; i < 5; i++)
    *pointer += table[i % 2]() * V;
  names[1] = "changed";
  char *text = strdup(names[1]);
  text = realloc(text, 100);
  strcat(text, list.next->next->name);
  printf("%d %s %s %d\n", counter, text, names[2], list.next == &list);
  free(text);
  return 0;
}
