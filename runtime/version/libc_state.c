/* Preparing and switching the libc state of a version: what is done once, and with every change of owner. */
#include "p3v_locale.h"

void p3v_environ_init(char **envp);
void p3v_progname_init(int argc, char **argv);
void p3v_printf_specifiers_enter(void);

void p3v_libc_init(int argc, char **argv, char **envp) {
  p3v_environ_init(envp);
  p3v_progname_init(argc, argv);
  p3v_ctype_init();
}

void p3v_libc_enter(void) {
  p3v_locale_enter();
  if (p3_reading_differs)
    p3v_printf_specifiers_enter();
  p3_reader = p3_readings[p3v_index];
}
