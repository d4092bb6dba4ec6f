// The pointer equals the buffer, or the byte before it is a newline: the start of a line is looked for backwards
// now; fixed.
//@ klee: none --sym-args 1 1 4
//@ run: lines
//@ args: "ab\ncd\nef"
//@ run: one line
//@ args: ab
//@ run: at the end
//@ args: "ab\n"
#include <p3.h>
#include <stdio.h>
#include <string.h>

static const char *last_line(const char *buffer) {
  const char *end = buffer + strlen(buffer);
  if (end > buffer && end[-1] == '\n')
    end--;
#if V == 1
  const char *line = buffer;
  for (const char *at = buffer; at < end; at++)
    if (*at == '\n')
      line = at + 1;
#else
  const char *line = end;
#ifdef BUG
  while (line > buffer && *line != '\n')
    line--;
#else
  while (line > buffer && line[-1] != '\n')
    line--;
#endif
#endif
  pp_assert(PP1(line - buffer) == PP2(line - buffer) && (PP2(line) == PP2(buffer) || PP2(line)[-1] == '\n'));
  return line;
}

int main(int argc, char **argv) {
  char buffer[32];
  if (argc > 1) {
    strncpy(buffer, argv[1], sizeof buffer - 1);
    buffer[sizeof buffer - 1] = 0;
    puts(*last_line(buffer) ? "text" : "none");
  }
  return 0;
}
