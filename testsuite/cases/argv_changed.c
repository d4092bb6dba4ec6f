// Arguments may be written to, reordered and kept; argv[argc] is null.
//@ args: "a=b=c" zz "" -x
//@ expect: output
#include <errno.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  char *kept = argv[2];
  printf("%d %s %d %s\n", argc, argv[0], argv[argc] == NULL, program_invocation_name);
  printf("%s", strtok(argv[1], "="));
  printf(" %s\n", strtok(NULL, ""));
  argv[2][0] = V == 2 ? 'B' : 'A';
  argv[3] = argv[4];
  memset(argv[0], 'x', strlen(argv[0]));
  for (int i = 0; i < argc; i++)
    printf("[%s]", argv[i]);
  printf("%s\n", kept);
  return 0;
}
