/* errno, per version and thread. */
#include "p3_runtime.h"

_Thread_local int p3v_errno;

/* All of version/ is compiled with this name for libc's (build.rs), so that `errno` is the version's there. */
int *p3_shim___errno_location(void) { return &p3v_errno; }
