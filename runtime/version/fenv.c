/* The floating-point environment (rounding mode, exception flags, traps), per version.
 *
 * It belongs to the thread, so versions share it. A version that uses <fenv.h> takes its environment with it
 * when another one becomes the owner, and leaves the default one. Not covered: a version sees the flags that
 * the plain arithmetic of a version without <fenv.h> has raised. */
#include "p3v_libc.h"
#include <fenv.h>

static fenv_t saved;
static bool is_saved;

static void enter(void) {
  if (is_saved)
    fesetenv(&saved);
}

static void leave(void) {
  is_saved = fegetenv(&saved) == 0;
  fesetenv(FE_DFL_ENV);
}

static void use(void) {
  p3_enter(p3v_index);
  p3v_fenv_hooks = (struct p3v_switch){enter, leave};
}

int SHIM(fesetround)(int mode) {
  use();
  return fesetround(mode);
}

int SHIM(fesetenv)(const fenv_t *environment) {
  use();
  return fesetenv(environment);
}

int SHIM(feholdexcept)(fenv_t *environment) {
  use();
  return feholdexcept(environment);
}

int SHIM(feupdateenv)(const fenv_t *environment) {
  use();
  return feupdateenv(environment);
}

int SHIM(feclearexcept)(int exceptions) {
  use();
  return feclearexcept(exceptions);
}

int SHIM(feraiseexcept)(int exceptions) {
  use();
  return feraiseexcept(exceptions);
}

int SHIM(fesetexcept)(int exceptions) {
  use();
  return fesetexcept(exceptions);
}

int SHIM(fesetexceptflag)(const fexcept_t *flags, int exceptions) {
  use();
  return fesetexceptflag(flags, exceptions);
}

int SHIM(fetestexcept)(int exceptions) {
  use();
  return fetestexcept(exceptions);
}

int SHIM(feenableexcept)(int exceptions) {
  use();
  return feenableexcept(exceptions);
}

int SHIM(fedisableexcept)(int exceptions) {
  use();
  return fedisableexcept(exceptions);
}

int SHIM(fesetmode)(const femode_t *mode) {
  use();
  return fesetmode(mode);
}
