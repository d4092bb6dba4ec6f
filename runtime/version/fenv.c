/* The floating-point environment (rounding mode, exception flags, traps), per version.
 *
 * It belongs to the thread, so versions share it. It is switched with the owner, but only once some version
 * has used <fenv.h>: until then no version can tell. Flags that plain arithmetic of one version
 * raises while versions alternate without a change of owner are seen by the others. */
#include "core/libc.h"
#include "p3v_libc.h"
#include <fenv.h>

static fenv_t saved;
static bool is_saved;

void p3v_fenv_enter(void) {
  if (p3_fenv_used)
    fesetenv(is_saved ? &saved : FE_DFL_ENV);
}

void p3v_fenv_leave(void) {
  if (p3_fenv_used)
    is_saved = fegetenv(&saved) == 0;
}

/* Before the first use by any version, this one's environment is the one that the process has now. */
static void use(void) {
  p3_enter(p3v_index);
  p3_fenv_used = true;
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
