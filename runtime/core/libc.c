/* Whose hidden state libc holds at the moment; see libc.h. */
#include "libc.h"

struct p3_timezone p3_timezone;
bool p3_reading_differs;
_Thread_local int p3_reader = -1;
bool p3_printf_specifiers[256];
int p3_position_owner[P3_POSITIONS];
