// strtok's hidden position, over the end of one string into the next.
//@ args: "a b,c" "x  y"
//@ expect: output
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    for (char *t = strtok(argv[i], " "); t; t = strtok(NULL, V == 2 ? " ," : " "))
      printf("<%s>", t);
  printf("%d\n", strtok(NULL, " ") == NULL);
  char copy[] = "p:q:r", *state;
  strtok(copy, ":");
  char other[] = "1;2";
  for (char *t = strtok_r(other, ";", &state); t; t = strtok_r(NULL, ";", &state))
    puts(t);
  puts(strtok(NULL, ":"));
  return 0;
}
