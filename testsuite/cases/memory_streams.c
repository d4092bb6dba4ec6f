// tmpfile, fmemopen, open_memstream, fopencookie: FILEs that are the version's own and flushed or dropped with it.
//@ expect: output
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ssize_t into(void *cookie, const char *data, size_t size) {
  printf("cookie %s: %.*s\n", (char *)cookie, (int)size, data);
  return size;
}

int main(void) {
  char text[] = "one two", buffer[32] = "";
  FILE *memory = fmemopen(text, sizeof text, "r");
  fscanf(memory, "%31s", buffer);
  printf("%s\n", buffer);
  fclose(memory);
  char *grown;
  size_t size;
  FILE *stream = open_memstream(&grown, &size);
  for (int i = 0; i < 5 * V; i++)
    fprintf(stream, "%d,", i);
  fflush(stream);
  printf("%zu %s\n", size, grown);
  fclose(stream);
  FILE *temporary = tmpfile();
  fputs("temporary\n", temporary);
  rewind(temporary);
  printf("%s", fgets(buffer, sizeof buffer, temporary));
  FILE *cookie = fopencookie("name", "w", (cookie_io_functions_t){.write = into});
  fputs("flushed at exit", cookie);
  return 0;
}
