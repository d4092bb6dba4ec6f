/* libc's scanf functions under their own names.
 *
 * glibc's headers turn each NAME into C99's __isoc99_NAME in the dialect of the runtime. Programs in C89 call
 * NAME itself, which reads "%as" otherwise, and klee-uclibc has nothing but NAME. */
#ifndef P3V_SCANF_H
#define P3V_SCANF_H

#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

int p3v_plain_vfscanf(FILE *file, const char *format, va_list arguments) __asm__("vfscanf");
int p3v_plain_vsscanf(const char *text, const char *format, va_list arguments) __asm__("vsscanf");
int p3v_plain_vfwscanf(FILE *file, const wchar_t *format, va_list arguments) __asm__("vfwscanf");
int p3v_plain_vswscanf(const wchar_t *text, const wchar_t *format, va_list arguments) __asm__("vswscanf");

int __isoc99_vfscanf(FILE *file, const char *format, va_list arguments);
int __isoc99_vsscanf(const char *text, const char *format, va_list arguments);
int __isoc99_vfwscanf(FILE *file, const wchar_t *format, va_list arguments);
int __isoc99_vswscanf(const wchar_t *text, const wchar_t *format, va_list arguments);

#endif
