/* What the versions and core/ call instead of libc's functions that allocate, so that it can be given back. */
#include "harness.h"
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <iconv.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <netdb.h>
#include <regex.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

/* A block that libc has allocated for the caller. */
static void *hold(void *block) { return p3_heap_hold(block, free); }

/* ---- blocks ---- */

void *INSTEAD(malloc)(size_t size) { return hold(malloc(size)); }
void *INSTEAD(calloc)(size_t count, size_t size) { return hold(calloc(count, size)); }
void *INSTEAD(aligned_alloc)(size_t alignment, size_t size) { return hold(aligned_alloc(alignment, size)); }
void *INSTEAD(memalign)(size_t alignment, size_t size) { return hold(memalign(alignment, size)); }
void *INSTEAD(valloc)(size_t size) { return hold(valloc(size)); }
void *INSTEAD(pvalloc)(size_t size) { return hold(pvalloc(size)); }

int INSTEAD(posix_memalign)(void **block, size_t alignment, size_t size) {
  int error = posix_memalign(block, alignment, size);
  if (!error)
    hold(*block);
  return error;
}

void INSTEAD(free)(void *block) {
  p3_heap_drop(block);
  free(block);
}

void INSTEAD(cfree)(void *block) { INSTEAD(free)(block); }

static void *moved(void *from, void *to, size_t size) {
  if (!to && size)
    return hold(from), NULL;
  return hold(to);
}

void *INSTEAD(realloc)(void *block, size_t size) {
  bool known = p3_heap_has(block);
  p3_heap_drop(block);
  void *to = realloc(block, size);
  return moved(known ? block : NULL, to, size);
}

void *INSTEAD(reallocarray)(void *block, size_t count, size_t size) {
  bool known = p3_heap_has(block);
  p3_heap_drop(block);
  void *to = reallocarray(block, count, size);
  return moved(known ? block : NULL, to, count && size);
}

/* ---- C++: operator new, new[], delete, delete[] ---- */

#define NEW(name)                                                                                            \
  void *name(size_t size);                                                                                   \
  void *INSTEAD(name)(size_t size) { return p3_heap_hold(name(size), release##name); }
#define DELETE(name)                                                                                         \
  void name(void *block);                                                                                    \
  void INSTEAD(name)(void *block) {                                                                          \
    p3_heap_drop(block);                                                                                     \
    name(block);                                                                                             \
  }                                                                                                          \
  void name##m(void *block, size_t size);                                                                    \
  void INSTEAD(name##m)(void *block, size_t size) {                                                          \
    p3_heap_drop(block);                                                                                     \
    name##m(block, size);                                                                                    \
  }
DELETE(_ZdlPv)
DELETE(_ZdaPv)
#define release_Znwm _ZdlPv
#define release_Znam _ZdaPv
NEW(_Znwm)
NEW(_Znam)

/* ---- strings ---- */

char *INSTEAD(strdup)(const char *string) { return hold(strdup(string)); }
char *INSTEAD(__strdup)(const char *string) { return hold(strdup(string)); }
char *INSTEAD(strndup)(const char *string, size_t size) { return hold(strndup(string, size)); }
char *INSTEAD(__strndup)(const char *string, size_t size) { return hold(strndup(string, size)); }
wchar_t *INSTEAD(wcsdup)(const wchar_t *string) { return hold(wcsdup(string)); }

int INSTEAD(vasprintf)(char **string, const char *format, va_list arguments) {
  int length = vasprintf(string, format, arguments);
  if (length >= 0)
    hold(*string);
  return length;
}

int INSTEAD(asprintf)(char **string, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = INSTEAD(vasprintf)(string, format, arguments);
  va_end(arguments);
  return length;
}

int INSTEAD(__vasprintf_chk)(char **string, int flag, const char *format, va_list arguments) {
  (void)flag;
  return INSTEAD(vasprintf)(string, format, arguments);
}

int INSTEAD(__asprintf_chk)(char **string, int flag, const char *format, ...) {
  (void)flag;
  va_list arguments;
  va_start(arguments, format);
  int length = INSTEAD(vasprintf)(string, format, arguments);
  va_end(arguments);
  return length;
}

ssize_t INSTEAD(getdelim)(char **line, size_t *size, int delimiter, FILE *file) {
  if (line)
    p3_heap_drop(*line);
  ssize_t length = getdelim(line, size, delimiter, file);
  int error = errno;
  if (line)
    hold(*line);
  errno = error;
  return length;
}

ssize_t INSTEAD(__getdelim)(char **line, size_t *size, int delimiter, FILE *file) {
  return INSTEAD(getdelim)(line, size, delimiter, file);
}

ssize_t INSTEAD(getline)(char **line, size_t *size, FILE *file) {
  return INSTEAD(getdelim)(line, size, '\n', file);
}

char *INSTEAD(getcwd)(char *path, size_t size) {
  char *found = getcwd(path, size);
  return path ? found : hold(found);
}

char *INSTEAD(get_current_dir_name)(void) { return hold(get_current_dir_name()); }

char *INSTEAD(realpath)(const char *path, char *space) {
  char *found = realpath(path, space);
  return space ? found : hold(found);
}

char *INSTEAD(__realpath_chk)(const char *path, char *space, size_t size) {
  (void)size;
  return INSTEAD(realpath)(path, space);
}

char *INSTEAD(canonicalize_file_name)(const char *path) { return hold(canonicalize_file_name(path)); }
char *INSTEAD(tempnam)(const char *directory, const char *prefix) { return hold(tempnam(directory, prefix)); }

/* ---- directories ---- */

static void close_directory(void *directory) { closedir(directory); }

DIR *INSTEAD(fdopendir)(int fd) { return p3_heap_hold(fdopendir(fd), close_directory); }
DIR *INSTEAD(opendir)(const char *path) { return p3_heap_hold(opendir(path), close_directory); }

int INSTEAD(closedir)(DIR *directory) {
  p3_heap_drop(directory);
  return closedir(directory);
}

static int hold_all(struct dirent ***list, int count) {
  if (count < 0)
    return count;
  hold(*list);
  for (int i = 0; i < count; i++)
    hold((*list)[i]);
  return count;
}

int INSTEAD(scandir)(const char *path, struct dirent ***list, int (*select)(const struct dirent *),
                     int (*compare)(const struct dirent **, const struct dirent **)) {
  return hold_all(list, scandir(path, list, select, compare));
}

int INSTEAD(scandirat)(int fd, const char *path, struct dirent ***list, int (*select)(const struct dirent *),
                       int (*compare)(const struct dirent **, const struct dirent **)) {
  return hold_all(list, scandirat(fd, path, list, select, compare));
}

/* ---- objects of libc ---- */

/* The program's structure may be gone when the run ends, so what stands in it is kept. Copies of it have the same
 * buffer. */
struct expression {
  struct expression *next;
  regex_t content;
};
static struct expression *expressions;

static void unlink_expression(struct expression *expression) {
  struct expression **link = &expressions;
  while (*link && *link != expression)
    link = &(*link)->next;
  if (*link)
    *link = expression->next;
}

static void free_expression(void *kept) {
  struct expression *expression = kept;
  unlink_expression(expression);
  regfree(&expression->content);
  free(expression);
}

int INSTEAD(regcomp)(regex_t *expression, const char *pattern, int flags) {
  int error = regcomp(expression, pattern, flags);
  struct expression *kept = error || !p3_heap_watched ? NULL : malloc(sizeof *kept);
  if (kept) {
    *kept = (struct expression){expressions, *expression};
    expressions = kept;
    p3_heap_hold(kept, free_expression);
  }
  return error;
}

void INSTEAD(regfree)(regex_t *expression) {
  struct expression *kept = expressions;
  while (kept && kept->content.buffer != expression->buffer)
    kept = kept->next;
  if (kept) {
    p3_heap_drop(kept);
    unlink_expression(kept);
    free(kept);
  }
  regfree(expression);
}

static void free_locale(void *locale) { freelocale(locale); }

locale_t INSTEAD(duplocale)(locale_t locale) { return p3_heap_hold(duplocale(locale), free_locale); }

/* libc reads the files of a locale when it is made and forgets them when it was the last that uses them. One of
 * each kind stays, so that the next run finds them. */
static void keep_loaded(locale_t locale) {
  static locale_t kept[16];
  size_t at = 0;
  for (; at < sizeof kept / sizeof *kept && kept[at]; at++) {
    bool is_same = true;
    for (int i = 0; i < 13; i++)
      if (i != LC_ALL)
        is_same &= strcmp(kept[at]->__names[i], locale->__names[i]) == 0;
    if (is_same)
      return;
  }
  if (at < sizeof kept / sizeof *kept)
    kept[at] = duplocale(locale);
}

locale_t INSTEAD(newlocale)(int mask, const char *name, locale_t base) {
  locale_t made = newlocale(mask, name, base);
  if (made)
    p3_heap_drop(base);
  if (made && p3_heap_watched)
    keep_loaded(made);
  return p3_heap_hold(made, free_locale);
}

void INSTEAD(freelocale)(locale_t locale) {
  p3_heap_drop(locale);
  freelocale(locale);
}

static void close_conversion(void *conversion) { iconv_close(conversion); }

iconv_t INSTEAD(iconv_open)(const char *to, const char *from) {
  iconv_t made = iconv_open(to, from);
  return made == (iconv_t)-1 ? made : p3_heap_hold(made, close_conversion);
}

int INSTEAD(iconv_close)(iconv_t conversion) {
  p3_heap_drop(conversion);
  return iconv_close(conversion);
}

static void free_addresses(void *list) { freeaddrinfo(list); }

int INSTEAD(getaddrinfo)(const char *node, const char *service, const struct addrinfo *hints,
                         struct addrinfo **list) {
  int error = getaddrinfo(node, service, hints, list);
  if (!error)
    p3_heap_hold(*list, free_addresses);
  return error;
}

void INSTEAD(freeaddrinfo)(struct addrinfo *list) {
  p3_heap_drop(list);
  freeaddrinfo(list);
}

int INSTEAD(hcreate_r)(size_t size, struct hsearch_data *table) {
  int result = hcreate_r(size, table);
  if (result)
    hold(table->table);
  return result;
}

void INSTEAD(hdestroy_r)(struct hsearch_data *table) {
  p3_heap_drop(table->table);
  hdestroy_r(table);
}

/* The nodes of binary trees. Which one tdelete frees cannot be told: from then on they stay libc's. */
static void free_node(void *node) { free(node); }

void *INSTEAD(tsearch)(const void *key, void **root, int (*compare)(const void *, const void *)) {
  void *node = tsearch(key, root, compare);
  return p3_heap_has(node) ? node : p3_heap_hold(node, free_node);
}

void *INSTEAD(tdelete)(const void *restrict key, void **restrict root,
                       int (*compare)(const void *, const void *)) {
  p3_heap_drop_all_of(free_node);
  return tdelete(key, root, compare);
}

void INSTEAD(tdestroy)(void *root, void (*release)(void *node)) {
  p3_heap_drop_all_of(free_node);
  tdestroy(root, release);
}

/* ---- mappings ---- */

static void *mapped(void *at, size_t size) {
  int error = errno;
  if (at != MAP_FAILED)
    p3_heap_map(at, size);
  errno = error;
  return at;
}

void *INSTEAD(mmap)(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
  return mapped(mmap(at, size, protection, flags, fd, offset), size);
}

void *INSTEAD(mmap64)(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
  return mapped(mmap(at, size, protection, flags, fd, offset), size);
}

int INSTEAD(munmap)(void *at, size_t size) {
  int result = munmap(at, size);
  if (result == 0)
    p3_heap_unmap(at, size);
  return result;
}

void *INSTEAD(mremap)(void *at, size_t before, size_t after, int flags, ...) {
  void *to = NULL;
  if (flags & MREMAP_FIXED) {
    va_list arguments;
    va_start(arguments, flags);
    to = va_arg(arguments, void *);
    va_end(arguments);
  }
  void *result = mremap(at, before, after, flags, to);
  if (result != MAP_FAILED)
    p3_heap_unmap(at, before);
  return mapped(result, after);
}
