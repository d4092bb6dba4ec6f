/* The locale, per version; every version starts in "C".
 *
 * libc's process-wide locale stays "C" for ever. What a version sets with setlocale is a locale object
 * of its own, which every thread that runs the version has installed with uselocale, so functions of
 * libc that depend on the locale need no shims, and versions in different locales may alternate.
 * The object is changed in place, since other threads of the version have it installed, too.
 *
 * In KLEE setlocale knows "C" only. */
#include "p3v_locale.h"
#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#define CATEGORIES 13 /* libc's, with LC_ALL among them */

static struct __locale_struct process_locale;
/* What the program has installed with uselocale in this thread; null: nothing. */
static _Thread_local locale_t thread_locale;

static locale_t process(void) {
  if (!process_locale.__names[0])
    process_locale = *newlocale(LC_ALL_MASK, "C", NULL);
  return &process_locale;
}

locale_t p3v_current_locale(void) { return thread_locale ? thread_locale : process(); }

void p3v_locale_enter(void) {
  if (!p3_in_klee())
    uselocale(p3v_current_locale());
  else if (p3_reading_differs)
    uselocale(thread_locale ? thread_locale : LC_GLOBAL_LOCALE);
}

static void announce_change(int reading) {
  p3_reading_differs = true;
  if (p3_readings[p3v_index] != P3_READS_ALONE(p3v_index))
    p3_readings[p3v_index] = reading;
  p3v_libc_enter();
}

static const char *category_name(int category) {
  static const char *const names[CATEGORIES] = {
      "LC_CTYPE", "LC_NUMERIC", "LC_TIME",    "LC_COLLATE",   "LC_MONETARY",    "LC_MESSAGES",      "LC_ALL",
      "LC_PAPER", "LC_NAME",    "LC_ADDRESS", "LC_TELEPHONE", "LC_MEASUREMENT", "LC_IDENTIFICATION"};
  return names[category];
}

static bool uniform(locale_t locale) {
  for (int i = 0; i < CATEGORIES; i++)
    if (i != LC_ALL && strcmp(locale->__names[i], locale->__names[0]) != 0)
      return false;
  return true;
}

/* The name of the whole locale, in the form that setlocale(LC_ALL, NULL) gives. Null: no memory. */
static char *whole_name(locale_t locale) {
  if (uniform(locale))
    return strdup(locale->__names[0]);
  size_t size = 1;
  for (int i = 0; i < CATEGORIES; i++)
    if (i != LC_ALL)
      size += strlen(category_name(i)) + strlen(locale->__names[i]) + 2;
  char *name = malloc(size), *end = name;
  for (int i = 0; name && i < CATEGORIES; i++)
    if (i != LC_ALL)
      end += sprintf(end, "%s%s=%s", i ? ";" : "", category_name(i), locale->__names[i]);
  return name;
}

/* Every locale that the version has had: names that setlocale has returned must stay valid, and going
 * back and forth between two locales must not need memory for ever. */
struct known {
  struct known *next;
  char *name;
  locale_t locale;
};

/* The known locale equal to `locale`, which is taken over. Null: no memory. */
static struct known *intern(locale_t locale) {
  static struct known *list;
  char *name = whole_name(locale);
  struct known *at = list;
  while (name && at && strcmp(at->name, name) != 0)
    at = at->next;
  if (name && !at && (at = malloc(sizeof *at))) {
    *at = (struct known){list, name, locale};
    return list = at;
  }
  free(name);
  freelocale(locale);
  return at;
}

static char *klee_setlocale(int category, const char *name) {
  static char c[] = "C";
  bool known = !name || strcmp(name, "") == 0 || strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0;
  return category >= 0 && category < CATEGORIES && known ? c : NULL;
}

char *SHIM(setlocale)(int category, const char *name) {
  static struct known *current;
  if (p3_in_klee())
    return klee_setlocale(category, name);
  if (category < 0 || category >= CATEGORIES) {
    errno = EINVAL;
    return NULL;
  }
  p3v_attend_environ();
  if (name || !current) {
    locale_t copy = duplocale(process());
    locale_t changed = NULL;
    if (copy)
      changed = newlocale(category == LC_ALL ? LC_ALL_MASK : 1 << category, name ? name : "C", copy);
    if (!changed) {
      if (copy)
        freelocale(copy);
      return NULL;
    }
    struct known *known = intern(changed);
    if (!known)
      return NULL;
    current = known;
    process_locale = *known->locale;
    p3v_ctype_set(&process_locale, false);
    announce_change(p3_reading_in(&process_locale));
  }
  return category == LC_ALL ? current->name : (char *)current->locale->__names[category];
}

locale_t SHIM(newlocale)(int mask, const char *name, locale_t base) {
  p3v_attend_environ();
  return newlocale(mask, name, base);
}

locale_t SHIM(duplocale)(locale_t locale) {
  return duplocale(locale == LC_GLOBAL_LOCALE && !p3_in_klee() ? process() : locale);
}

locale_t SHIM(uselocale)(locale_t locale) {
  locale_t before = thread_locale ? thread_locale : LC_GLOBAL_LOCALE;
  if (locale) {
    thread_locale = locale == LC_GLOBAL_LOCALE ? NULL : locale;
    if (!p3_in_klee())
      p3v_ctype_set(thread_locale, true);
    announce_change(P3_READS_ALONE(p3v_index));
  }
  return before;
}

struct lconv *SHIM(localeconv)(void) {
  static struct lconv conventions;
  p3v_attend();
  conventions = *localeconv();
  return &conventions;
}

char *SHIM(nl_langinfo)(nl_item item) {
  p3v_attend();
  return nl_langinfo(item);
}

/* Names that C++ headers use. */
locale_t SHIM(__newlocale)(int mask, const char *name, locale_t base) {
  return SHIM(newlocale)(mask, name, base);
}

locale_t SHIM(__duplocale)(locale_t locale) { return SHIM(duplocale)(locale); }
locale_t SHIM(__uselocale)(locale_t locale) { return SHIM(uselocale)(locale); }
