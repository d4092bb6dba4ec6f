/* Whose hidden state libc holds at the moment; see libc.h. */
#include "libc.h"
#include "core.h"
#include <stdlib.h>
#include <string.h>

struct p3_timezone p3_timezone;
bool p3_reading_differs;
int p3_readings[P3_MAX_VERSIONS];
_Thread_local int p3_reader = -1;
bool p3_printf_specifiers[256];
int p3_position_owner[P3_POSITIONS];

/* A locale that a version has had. libc never unloads what belongs to it: the version keeps the object. */
struct known {
  struct known *next;
  struct __locale_struct locale;
  int number;
};

/* Equal names alone would not do: LOCPATH may differ. */
static bool is_same(const struct __locale_struct *a, const struct __locale_struct *b) {
  for (size_t i = 0; i < sizeof a->__names / sizeof *a->__names; i++)
    if (i != LC_ALL &&
        (a->__locales[i] != b->__locales[i] || strcmp(a->__names[i], b->__names[i]) != 0))
      return false;
  return true;
}

int p3_reading_in(const struct __locale_struct *locale) {
  static struct known *list;
  static int last;
  struct p3_guard guard;
  p3_lock(&guard);
  struct known *known = list;
  while (known && !is_same(&known->locale, locale))
    known = known->next;
  int number = known ? known->number : ++last;
  if (!known && (known = malloc(sizeof *known))) {
    *known = (struct known){list, *locale, number};
    list = known;
  }
  p3_unlock(&guard);
  return number;
}
