// The locale is the version's own: setlocale, localeconv, nl_langinfo, multibyte functions and their state.
//@ run: utf-8
//@ env: LC_ALL=C.UTF-8
//@ expect: output
//@ run: none
//@ expect: none
//@ env: LC_ALL=C
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

int main(void) {
  printf("%s %s %zu\n", setlocale(LC_ALL, NULL), nl_langinfo(CODESET), MB_CUR_MAX);
#if V == 2
  setlocale(LC_ALL, "");
#endif
  printf("%s %s %zu\n", setlocale(LC_CTYPE, NULL), nl_langinfo(CODESET), MB_CUR_MAX);
  printf("%s\n", localeconv()->decimal_point);
  wchar_t wide[8];
  size_t count = mbstowcs(wide, "\xc3\xbc", 8);
  printf("%d\n", (int)count);
  printf("%d %d\n", mblen("\xc3\xbc", 2), mbtowc(NULL, NULL, 0));
  mbstate_t state = {0};
  printf("%d\n", (int)mbrtowc(wide, "\xc3", 1, &state));
  printf("%d\n", strcoll("a", "B") > 0);
  printf("%s\n", setlocale(LC_ALL, "no_SUCH") ? "set" : "refused");
  locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
  uselocale(c);
  printf("%zu\n", MB_CUR_MAX);
  return 0;
}
