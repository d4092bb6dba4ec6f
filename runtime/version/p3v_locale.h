/* What the files about the locale share. */
#ifndef P3V_LOCALE_H
#define P3V_LOCALE_H

#include "p3v_libc.h"
#include <locale.h>

/* A function or variable that stands in for NAME in products of which a version may change its locale. */
#define LOCALE_SHIM(name) p3_locale_##name

/* The locale object in force in this thread. Natively only. */
locale_t p3v_current_locale(void);
/* Installs it in this thread. */
void p3v_locale_enter(void);
/* ctype.c: before the version begins, the thread is in "C". */
void p3v_ctype_init(void);
/* ctype.c: this is the locale whose character tables the thread's functions take from now on, or, if `own` is
 * false, those of all threads without one of their own. Null with `own`: the thread has none any more. */
void p3v_ctype_set(locale_t locale, bool own);

#endif
