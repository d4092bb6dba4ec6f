/* ecvt, fcvt and their long double forms, per version; gcvt has no hidden state, nor have their _r forms.
 *
 * libc cuts the number of digits where its own buffers end, so these have the same sizes: a small one,
 * and one for fcvt's digits before the point when the small one does not hold them. */
#include "p3v_libc.h"
#include <float.h>
#include <stdlib.h>

#define DIGITS (17 + 3)
#define LONG_DIGITS (21 + 12)

char *SHIM(ecvt)(double value, int digits, int *point, int *sign) {
  static char text[DIGITS];
  ecvt_r(value, digits, point, sign, text, sizeof text);
  return text;
}

char *SHIM(fcvt)(double value, int digits, int *point, int *sign) {
  static char small[DIGITS], large[DIGITS + DBL_MAX_10_EXP];
  static bool overflowed;
  if (!overflowed) {
    if (fcvt_r(value, digits, point, sign, small, sizeof small) != -1)
      return small;
    overflowed = true;
  }
  fcvt_r(value, digits, point, sign, large, sizeof large);
  return large;
}

char *SHIM(qecvt)(long double value, int digits, int *point, int *sign) {
  static char text[LONG_DIGITS];
  qecvt_r(value, digits, point, sign, text, sizeof text);
  return text;
}

char *SHIM(qfcvt)(long double value, int digits, int *point, int *sign) {
  static char small[LONG_DIGITS], large[LONG_DIGITS + LDBL_MAX_10_EXP];
  static bool overflowed;
  if (!overflowed) {
    if (qfcvt_r(value, digits, point, sign, small, sizeof small) != -1)
      return small;
    overflowed = true;
  }
  qfcvt_r(value, digits, point, sign, large, sizeof large);
  return large;
}
