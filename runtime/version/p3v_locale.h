/* What the files about the locale share. */
#ifndef P3V_LOCALE_H
#define P3V_LOCALE_H

#include "p3v_libc.h"
#include <locale.h>

/* The locale object in force in this thread. Natively only. */
locale_t p3v_current_locale(void);
/* Installs it in this thread. */
void p3v_locale_enter(void);
/* ctype.c: the character tables are those of another locale now. */
void p3v_ctype_changed(void);

#endif
