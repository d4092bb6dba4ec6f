// Versions end on the stack of a coroutine (makecontext), by exit, abort or return, whatever main's stack was left by.
//@ run: in a coroutine that another one started
//@ args: nested
//@ expect: both
//@ run: an entry function returns
//@ args: return
//@ run: the linked one's entry function returns
//@ args: chain
//@ run: at another step in each version
//@ args: steps
//@ expect: both
//@ run: main left its stack by setcontext
//@ args: setcontext
//@ expect: both
//@ run: nobody uses swapcontext
//@ args: getcontext
//@ expect: output
//@ run: stacks of coroutines on main's stack
//@ args: local
//@ expect: both
//@ run: the link leads nowhere
//@ args: nowhere
//@ expect: both
//@ run: where main left its stack is forgotten
//@ args: forgotten
//@ expect: both
//@ run: a coroutine waits when main ends
//@ args: waiting
//@ expect: both
//@ run: main is returned to twice at one place
//@ args: twice
//@ expect: status
//@ run: ten arguments
//@ args: arguments
//@ expect: status
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static ucontext_t main_context, first, second, other;
static char stacks[2][65536];
static int steps;

static void bye(void) { puts("bye"); }

/* Functions that call getcontext are not woven. */
__attribute__((noinline)) static void make(ucontext_t *context, char *stack, ucontext_t *link, void (*function)(void)) {
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = sizeof stacks[0];
  context->uc_link = link;
  makecontext(context, function, 0);
  if (context->uc_link != link || context->uc_stack.ss_size != sizeof stacks[0])
    puts("makecontext changed what it was given");
}

__attribute__((noinline)) static void go(ucontext_t *from, ucontext_t *to) {
  swapcontext(from, to);
  puts("back");
}

static void end(int depth) {
  if (depth)
    end(depth - 1);
  else if (V == 2)
    exit(3);
  else
    abort();
  printf("never printed %d\n", depth);
}

static void ends(void) {
  puts("ends");
  fflush(stdout);
  end(5);
}

static void starts_second(void) {
  puts("starts second");
  go(&first, &second);
}

static void starts_and_forgets(void) { go(&other, &second); }

static void sets_second(void) { setcontext(&second); }

static void returns(void) { puts("returns"); }

static void counts(void) {
  for (;;) {
    printf("step %d\n", ++steps);
    if (steps == (V == 2 ? 5 : 3))
      exit(steps);
    swapcontext(&first, &main_context);
  }
}

static void yields(void) {
  for (int i = 0; i < 4; i++) {
    volatile int has_yielded = 0;
    getcontext(&first);
    if (has_yielded)
      continue;
    has_yielded = 1;
    printf("yield %d\n", i);
    if (i == (V == 2 ? 2 : 3))
      exit(9);
    setcontext(&main_context);
  }
}

static void adds(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {
  printf("%d %d %d %d %d %d %d %d %d %d\n", a, b, c, d, e, f, g, h, i, j);
}

static int is(const char *what, const char *other) { return strcmp(what, other) == 0; }

__attribute__((noinline)) static void alternate(void) {
  volatile int turns = 0;
  getcontext(&main_context);
  printf("main %d\n", ++turns);
  if (turns < 10)
    setcontext(&first);
}

__attribute__((noinline)) static void come_back_twice(void) {
  volatile int times = 0;
  make(&first, stacks[0], &main_context, returns);
  make(&second, stacks[1], &main_context, returns);
  swapcontext(&main_context, &first);
  printf("time %d\n", ++times);
  if (times == 1)
    swapcontext(&other, &second);
}

int main(int argc, char **argv) {
  char local[2][sizeof stacks[0]];
  const char *what = argv[1];
  atexit(bye);
  if (is(what, "nested")) {
    make(&first, stacks[0], &main_context, starts_second);
    make(&second, stacks[1], NULL, ends);
    go(&main_context, &first);
  } else if (is(what, "return")) {
    make(&first, stacks[0], NULL, returns);
    go(&main_context, &first);
  } else if (is(what, "chain")) {
    make(&second, stacks[1], NULL, returns);
    make(&first, stacks[0], &second, returns);
    go(&main_context, &first);
  } else if (is(what, "steps")) {
    make(&first, stacks[0], NULL, counts);
    for (int i = 0; i < 10; i++)
      go(&main_context, &first);
  } else if (is(what, "setcontext")) {
    make(&first, stacks[0], NULL, sets_second);
    make(&second, stacks[1], NULL, ends);
    setcontext(&first);
  } else if (is(what, "getcontext")) {
    make(&first, stacks[0], NULL, yields);
    alternate();
  } else if (is(what, "local")) {
    make(&first, local[0], &main_context, starts_second);
    make(&second, local[1], NULL, ends);
    go(&main_context, &first);
  } else if (is(what, "nowhere")) {
    make(&first, stacks[0], &other, ends);
    go(&main_context, &first);
  } else if (is(what, "forgotten")) {
    make(&first, stacks[0], NULL, starts_and_forgets);
    make(&second, stacks[1], NULL, ends);
    go(&other, &first);
  } else if (is(what, "waiting")) {
    make(&first, stacks[0], NULL, counts);
    go(&main_context, &first);
    go(&main_context, &first);
    if (V == 2) {
      puts("exit");
      exit(2);
    }
  } else if (is(what, "twice")) {
    come_back_twice();
  } else if (is(what, "arguments")) {
    make(&first, stacks[0], &main_context, returns);
    makecontext(&first, (void (*)(void))adds, 10, 1, 2, 3, -4, 5, 6, 7, -8, 9, 10);
    go(&main_context, &first);
  }
  puts("main ends");
  return V == 2 ? 5 : 6;
}
