/* What core/ keeps about the hidden state that libc has once per process: whose it is now. */
#ifndef P3_LIBC_H
#define P3_LIBC_H

#include "p3_runtime.h"
#include <locale.h>

/* The value of TZ for which libc's time zone is set up. */
struct p3_timezone {
  bool known;  /* false: libc has not read TZ yet */
  char *value; /* null: TZ unset */
};
extern struct p3_timezone p3_timezone;

/* Whether any version has changed how libc reads and prints: its locale, or conversions of printf. */
extern bool p3_reading_differs;
/* How each version reads and prints: versions with equal numbers do it alike, so that nothing needs to be
 * exchanged between them. */
extern int p3_readings[P3_MAX_VERSIONS];
/* How this thread does at the moment; -1: not known. */
extern _Thread_local int p3_reader;
/* The number for that locale object, if the version has changed nothing else. */
int p3_reading_in(const struct __locale_struct *locale);
/* The number that the version shares with nobody. */
#define P3_READS_ALONE(version) (-2 - (version))

/* Conversions that any version has added to printf, by their letters. */
extern bool p3_printf_specifiers[256];

/* Positions inside libc that cannot be kept apart by _r functions; each belongs to one version. */
enum p3_position {
  P3_PASSWD,
  P3_GROUP,
  P3_SHADOW,
  P3_GSHADOW,
  P3_HOSTS,
  P3_NETWORKS,
  P3_PROTOCOLS,
  P3_SERVICES,
  P3_RPC,
  P3_ALIASES,
  P3_NETGROUP,
  P3_POSITIONS,
};
/* The version at whose place libc is in each of them, plus 1; 0: nobody's. */
extern int p3_position_owner[P3_POSITIONS];

#endif
