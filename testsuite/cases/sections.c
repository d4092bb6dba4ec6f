// Tables gathered in a section between __start_ and __stop_: each version sees its own entries only.
//@ args: beta
//@ expect: output
#include <stdio.h>
#include <string.h>

struct command {
  const char *name;
  int (*run)(void);
};
#define COMMAND(name)                                                                                              \
  static int run_##name(void);                                                                                     \
  static const struct command command_##name __attribute__((used, section("commands"))) = {#name, run_##name};     \
  static int run_##name(void)

COMMAND(alpha) { return 1; }
COMMAND(beta) { return 2; }
#if V == 2
COMMAND(gamma) { return 3; }
#endif
// Entries that only the section leads to, without `used`.
int number_one __attribute__((section("numbers"))) = 1, number_more __attribute__((section("numbers"))) = 10 * V;
extern int __start_numbers[], __stop_numbers[];
extern const struct command __start_commands[], __stop_commands[];

int main(int argc, char **argv) {
  printf("%td commands\n", __stop_commands - __start_commands);
  for (const struct command *c = __start_commands; c < __stop_commands; c++)
    printf("%s%s %d\n", c->name, strcmp(c->name, argv[1]) ? "" : " *", c->run());
  for (int *n = __start_numbers; n < __stop_numbers; n++)
    printf("number %d\n", *n);
  return 0;
}
