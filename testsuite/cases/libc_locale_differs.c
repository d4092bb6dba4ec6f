// Versions in different locales that alternate call by call: only the second one changes its own.
//@ run: both stay in C
//@ run: the second version goes to UTF-8
//@ args: x
//@ expect: output
#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

int main(int argc, char **argv) {
  wchar_t wide[8] = {0};
  char bytes[20] = {0};
  if (argc > 1)
    setlocale(LC_ALL, V == 2 ? "C.UTF-8" : "C");
  for (int i = 0; i < 2; i++) {
    printf("%d ", (int)MB_CUR_MAX);
    printf("%d ", !!iswalpha(0xe9));
    printf("%d ", (int)mbstowcs(wide, "\xc3\xa9\xe2\x82\xac", 8));
    printf("%d ", snprintf(bytes, sizeof bytes, "%ls", L"\u00e9"));
    printf("%x ", (unsigned)towupper(0xe9));
    printf("%d ", wcwidth(0x4e00));
    printf("%d ", isalpha(0xe9) + toupper('a') + strcasecmp("A", "a"));
    printf("%d\n", mblen("\xc3\xa9", 2));
  }
  printf("%ls\n", L"ascii");
  return 0;
}
