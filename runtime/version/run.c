/* A version's life: what core/ calls to prepare and run it, and how it ends. */
#include "p3_process.h"
#include "p3v_libc.h"
#include "p3v_streams.h"
#include <errno.h>

unsigned char p3v_alive = 1;

int *SHIM(__errno_location)(void);

static int user_argc;
static char **user_argv;
static char **user_envp;

void p3v_die(enum p3_end end, int value) {
  if (p3_in_klee()) {
    P3_ME->end = end;
    P3_ME->value = value;
    p3_living &= ~(1u << p3v_index);
    if (!p3_living)
      p3_end_in_klee();
    /* Nobody asks behind the last one's end. */
    p3_ended = 1;
    p3v_alive = 0;
    return;
  }
  p3_ended = 1;
  p3v_alive = 0;
  /* In a child that another version forked, this one only leaves the stack. */
  if (p3_only >= 0 && p3_only != p3v_index)
    return;
  P3_ME->end = end;
  P3_ME->value = value;
  /* The frames above may be in a loop, or of a thread that is not the one of main. */
  if (p3_only >= 0)
    p3_only_end();
  p3_process_dying(p3v_index);
}

void p3v_die_at_once(enum p3_end end, int value) {
  if (p3_in_klee())
    p3_memory_lose(p3v_index);
  p3v_die(end, value);
}

static void init(int argc, char **argv, char **envp) {
  user_argc = argc;
  user_argv = argv;
  user_envp = envp;
  p3v_libc_init(argc, argv, envp);
  p3v_streams_init();
}

void p3v_run(void);
void p3v_run(void) {
  errno = 0;
  p3v_user_ctors(user_argc, user_argv, user_envp);
  SHIM(exit)(p3v_user_main(user_argc, user_argv, user_envp));
}

const struct p3_hooks p3v_hooks = {
    .init = init,
    .run = p3v_run,
    .die = p3v_die,
    .exit = SHIM(exit),
    .enter = p3v_libc_enter,
    .ended = p3v_files_discard,
    .next_file = p3v_files_next,
    .error_number = SHIM(__errno_location),
};
