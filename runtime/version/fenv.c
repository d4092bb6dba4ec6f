/* <fenv.h>, per version. The state is exchanged by core/float.c when another version becomes the owner, so
 * all that is to be done here is to become it. */
#include "p3v_libc.h"
#include <fenv.h>

int SHIM(fegetround)(void) {
  p3_enter(p3v_index);
  return fegetround();
}

int SHIM(fegetenv)(fenv_t *environment) {
  p3_enter(p3v_index);
  return fegetenv(environment);
}

int SHIM(fegetexceptflag)(fexcept_t *flags, int exceptions) {
  p3_enter(p3v_index);
  return fegetexceptflag(flags, exceptions);
}

int SHIM(fesetround)(int mode) {
  p3_enter(p3v_index);
  return fesetround(mode);
}

int SHIM(fesetenv)(const fenv_t *environment) {
  p3_enter(p3v_index);
  return fesetenv(environment);
}

int SHIM(feholdexcept)(fenv_t *environment) {
  p3_enter(p3v_index);
  return feholdexcept(environment);
}

int SHIM(feupdateenv)(const fenv_t *environment) {
  p3_enter(p3v_index);
  return feupdateenv(environment);
}

int SHIM(feclearexcept)(int exceptions) {
  p3_enter(p3v_index);
  return feclearexcept(exceptions);
}

int SHIM(feraiseexcept)(int exceptions) {
  p3_enter(p3v_index);
  return feraiseexcept(exceptions);
}

int SHIM(fesetexcept)(int exceptions) {
  p3_enter(p3v_index);
  return fesetexcept(exceptions);
}

int SHIM(fesetexceptflag)(const fexcept_t *flags, int exceptions) {
  p3_enter(p3v_index);
  return fesetexceptflag(flags, exceptions);
}

int SHIM(fetestexcept)(int exceptions) {
  p3_enter(p3v_index);
  return fetestexcept(exceptions);
}

int SHIM(feenableexcept)(int exceptions) {
  p3_enter(p3v_index);
  return feenableexcept(exceptions);
}

int SHIM(fedisableexcept)(int exceptions) {
  p3_enter(p3v_index);
  return fedisableexcept(exceptions);
}

int SHIM(fesetmode)(const femode_t *mode) {
  p3_enter(p3v_index);
  return fesetmode(mode);
}
