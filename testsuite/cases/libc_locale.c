// setlocale, newlocale and uselocale: every version begins in "C" and does not change another's locale.
//@ run: LANG
//@ env: LANG=C.UTF-8
//@ run: LC_ALL and a missing locale
//@ env: LC_ALL=no_SUCH
//@ run: only the second version asks
//@ env: LC_CTYPE=C.UTF-8 ASK=1
//@ expect: output
#include <ctype.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

static void show(const char *title) {
  wchar_t wide = 0;
  const char *name = setlocale(LC_ALL, NULL);
  printf("%s: %s, ctype %s, %s, %d bytes, mbtowc %d %x, iswalpha %d, point %s\n", title, name,
         setlocale(LC_CTYPE, NULL), nl_langinfo(CODESET), (int)MB_CUR_MAX, mbtowc(&wide, "\xc3\xa9", 2), (unsigned)wide,
         !!iswalpha(0xe9), localeconv()->decimal_point);
}

static void set(int category, const char *name) {
  const char *result = setlocale(category, name);
  printf("setlocale(%d, %s) = %s\n", category, name, result ? result : "none");
}

int main(int argc, char **argv) {
  show("start");
  if (V == 1 && getenv("ASK"))
    return 0;
  set(LC_ALL, "");
  show("environment");
  set(LC_CTYPE, "C");
  show("one category");
  set(LC_ALL, "LC_CTYPE=C.UTF-8;LC_NUMERIC=C;LC_TIME=C.UTF-8;LC_COLLATE=C;LC_MONETARY=C;LC_MESSAGES=C;LC_PAPER=C;"
              "LC_NAME=C;LC_ADDRESS=C;LC_TELEPHONE=C;LC_MEASUREMENT=C;LC_IDENTIFICATION=C");
  show("composite");
  char *saved = strdup(setlocale(LC_ALL, NULL));
  set(LC_ALL, "POSIX");
  set(99, "C");
  set(LC_ALL, "nowhere");
  set(LC_ALL, saved);
  locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL), c = newlocale(LC_ALL_MASK, "C", NULL);
  printf("%d\n", uselocale(NULL) == LC_GLOBAL_LOCALE);
  printf("%d\n", uselocale(c) == LC_GLOBAL_LOCALE);
  show("thread in C");
  printf("%d\n", uselocale(utf8) == c);
  show("thread in UTF-8");
  set(LC_ALL, "C");
  printf("%d %d\n", (int)MB_CUR_MAX, uselocale(LC_GLOBAL_LOCALE) == utf8);
  show("back");
  locale_t copy = duplocale(LC_GLOBAL_LOCALE);
  printf("%s\n", nl_langinfo_l(CODESET, copy));
  printf("%ls|%lc\n", L"wide", L'x');
  set(LC_ALL, "C.UTF-8");
  printf("%ls\n", L"\u00e9\u20ac");
  return 0;
}
