// Output in KLEE: printf's usual and other formats against libc's formatting in memory, bytes, lines, blocks, buffers
// that the program sets, more than fits into the memory that there is at first, another descriptor behind stdout, closing.
//@ args: "xy"
//@ klee: none --sym-args 1 1 2
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if V == 1
#define PRINT(...) printf(__VA_ARGS__)
#else
#define PRINT(...)                                                                                           \
  do {                                                                                                       \
    char room[500];                                                                                          \
    int length = snprintf(room, sizeof room, __VA_ARGS__);                                                   \
    fwrite(room, 1, length, stdout);                                                                         \
  } while (0)
#endif

static void put_line(const char *text) {
#if V == 1
  puts(text);
#else
  while (*text)
    putchar(*text++);
  fputs("\n", stdout);
#endif
}

int main(int argc, char **argv) {
  static char buffer[100];
  const char *text = argc > 1 ? argv[1] : "", *volatile none = NULL;
  volatile int zero = 0, small = -17, least = INT_MIN;
  volatile long large = LONG_MIN;
  setvbuf(stdout, buffer, V == 1 ? _IOLBF : _IOFBF, sizeof buffer);
  PRINT("<%c%s%%>", *text, text);
  PRINT("%d %i %u %x %X\n", zero, small, small, least, least);
  PRINT("%ld %lu %lx %lX %zu %s\n", large, large, large, large, sizeof large, none ? none : "(null)");
  PRINT("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17);
  PRINT("%d %d %d %d %u %ld %lu\n", 9, 10, 99, 100, 4294967295u, 1234567890123, 10ul);
  PRINT("%d%% %x", *text & 15, *text & 31);
  char long_text[400];
  memset(long_text, 'l', sizeof long_text - 1);
  long_text[sizeof long_text - 1] = 0;
  PRINT("%s%s%c", long_text + 350, long_text, 'e');
  PRINT("%5d|%-6s|%lld|%.2s\n", small, "ab", (long long)large, "xyz");
  PRINT("plain");
  put_line("");
  put_line("a line");
  fprintf(stderr, "%s: %d\n", "message", small);
  fflush(stdout);
  dup2(2, 1);
  PRINT("to the other: %s %d\n", text, small);
  put_line("and");
  fflush(stdout);
  int closed = fclose(stdout);
  fprintf(stderr, "%d\n", closed);
  return fclose(stderr) != 0;
}
