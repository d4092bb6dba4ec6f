/* Whose hidden state libc holds at the moment; see libc.h. */
#include "libc.h"

struct p3_timezone p3_timezone;
int p3_position_owner[P3_POSITIONS];
