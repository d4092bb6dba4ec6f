// Other static buffers: inet_ntoa, ecvt, l64a, ttyname, basename, hcreate's one table, tmpnam's absence of one.
//@ stdin: tty x\n
//@ expect: output
#include <arpa/inet.h>
#include <libgen.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  struct in_addr a = {.s_addr = htonl(0x01020304)}, b = {.s_addr = htonl(0x05060700 + V)};
  char *first = inet_ntoa(a), *second = inet_ntoa(b);
  printf("%s %s %d\n", first, second, first == second);
  int point, sign;
  char *digits = ecvt(3.14159, 4, &point, &sign);
  printf("%s %d %d", digits, point, sign);
  printf(" %s %s\n", fcvt(2.5, 3, &point, &sign), l64a(123456));
  printf("%d\n", ttyname(0) != NULL);
  char path[] = "/usr/lib/";
  printf("%s %s\n", basename(path), dirname(path));
  hcreate(10);
  hsearch((ENTRY){.key = "one", .data = "1"}, ENTER);
  if (V == 2)
    hsearch((ENTRY){.key = "two", .data = "2"}, ENTER);
  ENTRY *found = hsearch((ENTRY){.key = "two"}, FIND);
  printf("%s\n", found ? (char *)found->data : "no two");
  hdestroy();
  printf("%d\n", hcreate(5));
  return 0;
}
