/* strtok's place in the string, per version. */
#include "p3v_libc.h"
#include <string.h>

char *SHIM(strtok)(char *string, const char *delimiters) {
  static char *rest;
  return strtok_r(string, delimiters, &rest);
}
