// Wide formatted input: what the scan leaves is read by the next function; bytes are refused on a wide stream.
//@ env: LC_ALL=C.UTF-8
//@ stdin: pipe "12 \xc3\xa4pfel, 7\nrest of it\n99"
//@ expect: output
#include <locale.h>
#include <stdio.h>
#include <wchar.h>

int main(void) {
  setlocale(LC_ALL, "");
  int number, other;
  wchar_t word[16], line[32];
  int count = wscanf(L"%d %15l[^,], %d", &number, word, &other);
  wprintf(L"%d %d %ls %d\n", count, number, word, other);
  wprintf(L"%d\n", printf("never"));
  getwchar();
  wprintf(L"%ls", fgetws(line, 32, stdin));
  count = wscanf(L"%d", &number);
  wprintf(L"%d %d %d V%d\n", count, number, wscanf(L"%d", &other), V);
  return fwide(stdout, 0) > 0 ? 0 : 1;
}
