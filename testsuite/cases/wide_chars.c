// Wide output and input: wprintf, fputwc, getwchar, fwide, in the C.UTF-8 locale.
//@ env: LC_ALL=C.UTF-8
//@ stdin: pipe "gr\xc3\xbc\xc3\x9fe\n\xe2\x82\xac 5\n"
//@ expect: output
#include <locale.h>
#include <stdio.h>
#include <wchar.h>
#include <wctype.h>

int main(void) {
  setlocale(LC_ALL, "");
  printf("%d\n", fwide(stderr, 0));
  fflush(stdout);
  FILE *out = fdopen(2, "w");
  wprintf(L"never printed, stdout is narrow");
  wint_t c;
  int letters = 0;
  while ((c = getwchar()) != WEOF && c != L'\n') {
    letters += iswalpha(c) != 0;
    fputwc(V == 2 ? towupper(c) : c, out);
  }
  ungetwc(L'\u00e9', stdin);
  wchar_t line[32];
  fgetws(line, 32, stdin);
  fwprintf(out, L"|%ls%d %lc %zu\n", line, letters, L'\u20ac', wcslen(line));
  fwide(stderr, 1);
  fflush(out);
  fputws(L"wide stderr \u00df\n", stderr);
  return fwide(stdin, 0) > 0;
}
