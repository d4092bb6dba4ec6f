// Single characters, most of which never leave a FILE's buffer: all functions for them, in every kind of buffer,
// between other operations on the FILE, from several threads.
//@ link: -lpthread
//@ expect: output
//@ stdin: pipe "one line\nand another \xff one\n\x00end" 300*filler
//@ run: pipe
//@ run: file
//@ stdin: file+3 "one line\nand another \xff one\n\x00end" 300*filler
//@ stdout: append
//@ run: terminal
//@ stdin: tty "typed\nby hand\n\x04"
//@ stdout: tty
//@ run: full
//@ stdout: full
//@ run: closed
//@ stdin: closed
//@ stdout: closed
//@ run: reader gone
//@ stdout: head 20
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <wchar.h>

#undef getc
#undef putc
int _IO_getc(FILE *);
int _IO_putc(int, FILE *);

static int (*volatile const takes[])(FILE *) = {getc, fgetc, getc_unlocked, fgetc_unlocked, _IO_getc};
static int (*volatile const puts_[])(int, FILE *) = {putc, fputc, putc_unlocked, fputc_unlocked, _IO_putc};

static void *write_many(void *file) {
  for (int i = 0; i < 5000; i++)
    putc('a' + i % 20, file);
  return NULL;
}

int main(void) {
  int character, sum = 0, count = 0;
  char line[40];
  /* By name, as compilers see it, and through pointers. */
  errno = E2BIG;
  while ((character = count % 2 ? getc(stdin) : getchar_unlocked()) != EOF && count < 9)
    putc_unlocked(character + (V == 2 && count == 4), stdout), count++;
  fprintf(stderr, "%d %d %d %d\n", count, errno, feof(stdin), ferror(stdin));
  ungetc(character == EOF ? 'E' : character, stdin);
  for (int i = 0; i < 10; i++)
    puts_[i % 5](takes[i % 5](stdin), stdout);
  putchar('\n');
  fprintf(stderr, "%s", fgets(line, sizeof line, stdin) ? line : "no line\n");
  while ((character = fgetc_unlocked(stdin)) != EOF)
    sum += character, count++;
  fprintf(stderr, "%d %d %d\n", sum, count, fgetc(stdin));
  for (int i = 0; i < 3000; i++)
    if (fputc(V == 2 && i == 2000 ? '!' : 'x', stdout) == EOF) {
      fprintf(stderr, "failed at %d\n", i), perror("fputc");
      break;
    }
  putchar_unlocked('\n');
  fprintf(stderr, "%d\n", fflush(stdout));

  static char buffer[7];
  FILE *file = tmpfile();
  setvbuf(file, buffer, _IOLBF, sizeof buffer);
  for (int i = 0; i < 40; i++)
    putc_unlocked(i % 11 ? 'a' + i % 26 : '\n', file);
  fseek(file, 10, SEEK_SET);
  fprintf(stderr, "%c", getc_unlocked(file));
  fseek(file, 0, SEEK_CUR);
  putc(255, file);
  rewind(file);
  while ((character = getc(file)) != EOF)
    fprintf(stderr, "%02x", character);
  fprintf(stderr, " %d\n", putc_unlocked(300 + V, file));
  fclose(file);

  file = tmpfile();
  fwide(file, 1);
  fprintf(stderr, "%d", putc('a', file));
  putwc(L'a', file);
  fprintf(stderr, " %d\n", putc_unlocked('a', file));
  fclose(file);

  pthread_t threads[2];
  file = tmpfile();
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, write_many, file);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  fprintf(stderr, "%ld\n", ftell(file));
  rewind(file);
  sum = 0;
  while ((character = getc(file)) != EOF)
    sum += character;
  fprintf(stderr, "%d\n", sum);
  return fclose(file);
}
