/* Whose hidden state libc holds at the moment; see libc.h. */
#include "libc.h"

struct p3_timezone p3_timezone;
bool p3_uselocale_called;
bool p3_printf_specifiers_used, p3_printf_specifiers[256];
int p3_position_owner[P3_POSITIONS];
