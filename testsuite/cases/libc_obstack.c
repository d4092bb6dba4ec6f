// Object stacks: when memory is exhausted, the version's handler or its own exit.
//@ run: default handler
//@ run: own handler
//@ args: x
//@ run: the second version has another exit status
//@ args: x y
//@ expect: status
#include <obstack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int exhausted;
static void *get(long size) { return exhausted ? NULL : malloc((size_t)size); }
#define obstack_chunk_alloc get
#define obstack_chunk_free free

static void handler(void) {
  printf("no memory\n");
  exit(obstack_exit_failure);
}

int main(int argc, char **argv) {
  struct obstack stack;
  obstack_init(&stack);
  void *first = obstack_alloc(&stack, 10);
  for (int i = 0; i < 1000; i++) {
    obstack_printf(&stack, "item %d, ", i);
    if (i % 10 == 9)
      obstack_1grow(&stack, '\0');
    if (i % 30 == 29)
      obstack_finish(&stack);
  }
  char *text = obstack_finish(&stack);
  printf("%s %d\n", text, obstack_memory_used(&stack) > 8000);
  obstack_free(&stack, first);
  printf("%d\n", obstack_memory_used(&stack));
  if (argc > 1)
    obstack_alloc_failed_handler = handler;
  if (argc > 2)
    obstack_exit_failure = 10 + V;
  exhausted = 1;
  obstack_blank(&stack, 100000);
  printf("never printed\n");
  return 0;
}
