// The one hash table of hcreate.
//@ run: same
//@ run: the second version puts another value
//@ args: x
//@ expect: output
#include <search.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  printf("%d %d\n", !!hcreate(20), hcreate(10));
  ENTRY *found = hsearch((ENTRY){"key", argc > 1 && V == 2 ? "two" : "one"}, ENTER);
  printf("%s\n", (char *)found->data);
  printf("%s\n", (char *)hsearch((ENTRY){"key", "later"}, ENTER)->data);
  printf("%s\n", hsearch((ENTRY){"other", NULL}, FIND) ? "?" : "none");
  hdestroy();
  printf("%d\n", !!hcreate(5));
  printf("%s\n", hsearch((ENTRY){"key", NULL}, FIND) ? "?" : "none");
  return 0;
}
