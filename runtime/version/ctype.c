/* <ctype.h>, per version. The tables of the version's locale are handed out through pointers of its own: programs
 * keep the addresses that these functions return, across calls that libc would follow. */
#include "p3v_locale.h"
#include <ctype.h>
#include <stdlib.h>

static _Thread_local const unsigned short *classes;
static _Thread_local const int *lower, *upper;

void p3v_ctype_changed(void) {
  if (p3_in_klee()) {
    classes = *__ctype_b_loc();
    lower = *__ctype_tolower_loc();
    upper = *__ctype_toupper_loc();
  } else {
    locale_t locale = p3v_current_locale();
    classes = locale->__ctype_b;
    lower = locale->__ctype_tolower;
    upper = locale->__ctype_toupper;
  }
}

/* A thread that the version did not start has no tables yet. */
#define TABLE(table)                                                                                         \
  if (!table)                                                                                                \
    p3v_ctype_changed();                                                                                     \
  return &table

const unsigned short **SHIM(__ctype_b_loc)(void) { TABLE(classes); }
const int **SHIM(__ctype_tolower_loc)(void) { TABLE(lower); }
const int **SHIM(__ctype_toupper_loc)(void) { TABLE(upper); }

#define CLASS(name, bit)                                                                                     \
  int SHIM(name)(int c) { return (*SHIM(__ctype_b_loc)())[c] & (unsigned short)bit; }

CLASS(isalnum, _ISalnum)
CLASS(isalpha, _ISalpha)
CLASS(isblank, _ISblank)
CLASS(iscntrl, _IScntrl)
CLASS(isdigit, _ISdigit)
CLASS(isgraph, _ISgraph)
CLASS(islower, _ISlower)
CLASS(isprint, _ISprint)
CLASS(ispunct, _ISpunct)
CLASS(isspace, _ISspace)
CLASS(isupper, _ISupper)
CLASS(isxdigit, _ISxdigit)

int SHIM(tolower)(int c) { return c >= -128 && c < 256 ? (*SHIM(__ctype_tolower_loc)())[c] : c; }
int SHIM(toupper)(int c) { return c >= -128 && c < 256 ? (*SHIM(__ctype_toupper_loc)())[c] : c; }
