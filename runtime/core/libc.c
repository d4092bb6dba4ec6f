/* Whose hidden state libc holds at the moment; see libc.h. */
#include "libc.h"

struct p3_timezone p3_timezone;
bool p3_uselocale_called;
int p3_position_owner[P3_POSITIONS];
