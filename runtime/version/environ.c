/* The environment, per version: an array of its own, which the program may also replace or edit.
 *
 * libc's own look-ups (TZ, LANG, PATH, ...) read libc's `environ`, which core/ lets point to the
 * owner's array; what changes the pointer here says so to core/. */
#include "p3v_libc.h"
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

char **SHIM(environ);
extern char **SHIM(__environ) __attribute__((alias("p3_shim_environ")));
extern char **SHIM(_environ) __attribute__((alias("p3_shim_environ")));

static char **own_array; /* the array that setenv or putenv allocated last; it may be reallocated */
static p3v_lock_t lock;

static void set_environ(char **array) {
  SHIM(environ) = array;
  p3_environ_changed(p3v_index);
}

void p3v_environ_init(char **envp) {
  SHIM(environ) = envp;
  P3_ME->environ_slot = &SHIM(environ);
}

void p3v_attend_environ(void) {
  p3v_attend();
  environ = SHIM(environ);
}

void p3v_own(void) {
  p3_enter(p3v_index);
  p3_captures_complete();
  p3v_attend_environ();
}

/* Not by strncmp: in KLEE a call for each variable would cost more than many programs. */
static bool names(const char *entry, const char *name, size_t length) {
  size_t i = 0;
  while (i < length && entry[i] == name[i])
    i++;
  return i == length && entry[length] == '=';
}

/* The place of `name` in the array, or that of its final null pointer, or null without an array. */
static char **find(const char *name, size_t length) {
  char **at = SHIM(environ);
  while (at && *at && !names(*at, name, length))
    at++;
  return at;
}

char *SHIM(getenv)(const char *name) {
  size_t length = strlen(name);
  if (length == 0)
    return NULL;
  char **at = find(name, length);
  return at && *at ? *at + length + 1 : NULL;
}

char *SHIM(secure_getenv)(const char *name) {
  if (!p3_in_klee() && getauxval(AT_SECURE))
    return NULL;
  return SHIM(getenv)(name);
}

/* "NAME=VALUE" in memory that is never freed, since the program may keep pointers into it. A string
 * that was made before is used again, so that toggling a variable for ever needs no memory. */
static char *join(const char *name, size_t length, const char *value) {
  static void *made;
  size_t size = strlen(value) + 1;
  char *entry = malloc(length + 1 + size);
  if (!entry)
    return NULL;
  memcpy(entry, name, length);
  entry[length] = '=';
  memcpy(entry + length + 1, value, size);
  if (p3_in_klee() || p3_in_process)
    return entry;
  char **known = tsearch(entry, &made, (int (*)(const void *, const void *))strcmp);
  if (known && *known != entry) {
    free(entry);
    entry = *known;
  }
  return entry;
}

/* Puts `entry` (made from `value` if null) into the array. */
static int put(const char *name, size_t length, const char *value, char *entry, bool replace) {
  char **at = find(name, length);
  if (at && *at && !replace)
    return 0;
  if (!entry && !(entry = join(name, length, value)))
    return -1;
  if (at && *at) {
    *at = entry;
    return 0;
  }
  size_t count = at ? (size_t)(at - SHIM(environ)) : 0;
  bool own = own_array && SHIM(environ) == own_array;
  char **array = realloc(own ? own_array : NULL, (count + 2) * sizeof *array);
  if (!array)
    return -1;
  if (!own && count)
    memcpy(array, SHIM(environ), count * sizeof *array);
  array[count] = entry;
  array[count + 1] = NULL;
  own_array = array;
  set_environ(array);
  return 0;
}

int SHIM(setenv)(const char *name, const char *value, int replace) {
  if (!name || *name == '\0' || strchr(name, '=')) {
    errno = EINVAL;
    return -1;
  }
  p3v_lock(&lock);
  int result = put(name, strlen(name), value, NULL, replace != 0);
  p3v_unlock(&lock);
  return result;
}

int SHIM(unsetenv)(const char *name) {
  if (!name || *name == '\0' || strchr(name, '=')) {
    errno = EINVAL;
    return -1;
  }
  size_t length = strlen(name);
  p3v_lock(&lock);
  for (char **at = find(name, length); at && *at;) {
    if (!names(*at, name, length)) {
      at++;
      continue;
    }
    for (char **to = at; (to[0] = to[1]); to++)
      ;
  }
  p3v_unlock(&lock);
  return 0;
}

int SHIM(putenv)(char *entry) {
  char *equals = strchr(entry, '=');
  if (!equals)
    return SHIM(unsetenv)(entry);
  p3v_lock(&lock);
  int result = put(entry, (size_t)(equals - entry), NULL, entry, true);
  p3v_unlock(&lock);
  return result;
}

int SHIM(clearenv)(void) {
  p3v_lock(&lock);
  if (own_array && SHIM(environ) == own_array) {
    free(own_array);
    own_array = NULL;
  }
  set_environ(NULL);
  p3v_unlock(&lock);
  return 0;
}
