/* <ctype.h>, per version. The tables of the version's locale are handed out through pointers of its own:
 * programs keep the addresses that these functions return, across calls in which libc would exchange the
 * tables. */
#include "p3v_locale.h"
#include <ctype.h>

struct tables {
  const unsigned short *classes;
  const int *lower, *upper;
};
static struct tables process_tables;
static _Thread_local struct tables thread_tables;
static _Thread_local bool has_own_tables;

void p3v_ctype_init(void) {
  process_tables = (struct tables){*__ctype_b_loc(), *__ctype_tolower_loc(), *__ctype_toupper_loc()};
}

void p3v_ctype_set(locale_t locale, bool own) {
  if (own)
    has_own_tables = locale != NULL;
  if (locale)
    *(own ? &thread_tables : &process_tables) =
        (struct tables){locale->__ctype_b, locale->__ctype_tolower, locale->__ctype_toupper};
}

/* No call of libc stands in the functions below, so none of them can end the version. */
static struct tables *tables(void) { return has_own_tables ? &thread_tables : &process_tables; }

const unsigned short **LOCALE_SHIM(__ctype_b_loc)(void) { return &tables()->classes; }
const int **LOCALE_SHIM(__ctype_tolower_loc)(void) { return &tables()->lower; }
const int **LOCALE_SHIM(__ctype_toupper_loc)(void) { return &tables()->upper; }

#define CLASS(name, bit)                                                                                     \
  int LOCALE_SHIM(name)(int c) { return tables()->classes[c] & (unsigned short)bit; }

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

int LOCALE_SHIM(tolower)(int c) { return c >= -128 && c < 256 ? tables()->lower[c] : c; }
int LOCALE_SHIM(toupper)(int c) { return c >= -128 && c < 256 ? tables()->upper[c] : c; }
