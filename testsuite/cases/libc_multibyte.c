// Conversion states that libc keeps for callers without one: an unfinished character belongs to one version.
//@ run: finished by both
//@ run: the first version leaves one unfinished
//@ args: x
//@ expect: output
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>

int main(int argc, char **argv) {
  wchar_t wide[10] = {0};
  char16_t unit = 0;
  char32_t point = 0;
  char bytes[20] = {0};
  setlocale(LC_ALL, "C.UTF-8");
  printf("%d", mbtowc(wide, "\xe2\x82", 2));
  printf(" %d %x\n", mbtowc(wide, "\xac", 1), (unsigned)wide[0]);
  printf("%d", (int)mbrtowc(wide, "\xe2\x82", 2, NULL));
  printf(" %d", (int)mbrlen("\xe2", 1, NULL));
  if (V == 1 && argc > 1)
    return 0;
  printf(" %d %x", (int)mbrtowc(wide, "\xac", 1, NULL), (unsigned)wide[0]);
  printf(" %d\n", (int)mbrlen("\x82\xac", 2, NULL));
  printf("%d %d\n", mblen("\xe2\x82\xac", 3), mblen("\xe2", 1));
  printf("%d", (int)mbrtoc16(&unit, "\xf0\x9f\x98\x80", 4, NULL));
  printf(" %x", unit);
  printf(" %d", (int)mbrtoc16(&unit, "", 0, NULL));
  printf(" %x %d", unit, (int)mbrtoc32(&point, "\xf0\x9f\x98\x80", 4, NULL));
  printf(" %x\n", (unsigned)point);
  printf("%d", (int)c16rtomb(bytes, 0xd83d, NULL));
  printf(" %d %s\n", (int)c16rtomb(bytes, 0xde00, NULL), bytes);
  const char *from = "a\xc3\xa9" "b";
  printf("%d\n", (int)mbsrtowcs(wide, &from, 10, NULL));
  const wchar_t *source = wide;
  printf("%d", (int)wcsrtombs(bytes, &source, sizeof bytes, NULL));
  printf(" %s %d %d\n", bytes, wctomb(bytes, 0xe9), (int)wcrtomb(bytes, 0x20ac, NULL));
  return 0;
}
