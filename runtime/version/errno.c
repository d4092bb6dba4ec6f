/* errno, per version and thread. */
#include "p3_runtime.h"

_Thread_local int p3v_errno;

int *SHIM(__errno_location)(void) { return &p3v_errno; }
