/* The contract between the parts of the p3-ir runtime and the compiler passes.
 *
 * core/     is linked into a product once. Its symbols keep their names (`p3_*`).
 * version/  is linked into every version before its symbols are renamed, so all of its state
 *           exists once per version. Version i's copy of `p3v_x` ends up as `_PPi_p3v_x`.
 *
 * A shim is a function or variable of version/ named `p3_shim_NAME`. The isolate pass binds
 * every reference of the program to an undefined symbol NAME to the version's own shim. Code in
 * the runtime that says NAME itself gets libc's.
 *
 * errno: around every call that leaves a version (to libc or to core/) the isolate pass copies the
 * version's errno in and out, in the runtime's own version/ code too. So version/ code uses `errno`
 * as any C code does and it is the version's; core/ code sees libc's, and what it leaves there is
 * what the version sees.
 */
#ifndef P3_RUNTIME_H
#define P3_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define P3_MAX_VERSIONS 16

/* Bits of p3_checks, in the order of `--check`'s words. */
#define P3_CHECK_OUTPUT 1u
#define P3_CHECK_STATUS 2u
#define P3_CHECK_ASSERT 4u
#define P3_CHECK_DIVERGENCE 8u
#define P3_CHECK_RETURNS 16u

#define SHIM(name) p3_shim_##name

/* How a version ended. */
enum p3_end {
  P3_RUNNING = 0,
  P3_EXITED,   /* value: exit status, 0..255 */
  P3_SIGNALED, /* value: signal number */
};

/* What core/ keeps about each version; version/ code reaches its own with `P3_ME`. */
struct p3_state {
  enum p3_end end;
  int value;
  bool assert_failed;
};
extern struct p3_state p3_states[P3_MAX_VERSIONS];

/* The entry points of one version's copy of version/, in core/'s table of versions. */
struct p3_hooks {
  void (*init)(int argc, char **argv, char **envp); /* private argv, envp: the version may keep them */
  void (*run)(void);                                /* constructors, the entry function, exit */
};

/* Emitted by the finish pass. */
extern const int p3_count;                         /* number of versions, 2..16 */
extern const struct p3_hooks *const p3_versions[]; /* p3_count entries */
extern const char *const p3_names[];               /* input file of each version, for messages */
extern const unsigned p3_checks;                   /* P3_CHECK_* */

/* Emitted by the isolate pass in every version. */
extern const int p3v_index;                         /* 0-based number of this version, a constant */
int p3v_user_main(int argc, char **argv, char **envp); /* the entry function, adapted */
void p3v_user_ctors(int argc, char **argv, char **envp);
void p3v_user_dtors(void);
#define P3_ME (&p3_states[p3v_index])

/* version/: cleared as the very last step of a version's end, and only by p3v_die. The terminate pass
 * finds every function that can reach p3v_die and makes it return as soon as this is 0. */
extern unsigned char p3v_alive;
void p3v_die(enum p3_end end, int value);

/* core/: whether KLEE interprets the product. */
bool p3_in_klee(void);

#endif
