// What dlsym finds of libc is the version's: output, variables, the clock, and how the version ends.
//@ versions: 2 3
//@ expect: both
//@ link: -ldl -lm
//@ run: kill
//@ args: kill
//@ run: exit
//@ args: exit
//@ run: raise
//@ args: raise
//@ run: usage
//@ args: -b
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void *find(const char *name) { return dlsym(RTLD_DEFAULT, name); }

static const struct {
  char name[12];
  int calls;
} printers[] = {{"puts", 2}, {"perror", 1}};

static void never(void) { puts("never"); }
static void last(void) { printf("last of %d\n", V); }

int main(int argc, char **argv) {
  int (*put)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "putchar");
  for (int i = 0; i < 3 + V; i++)
    put('a' + i);
  put('\n');

  void *libc = dlopen("libc.so.6", RTLD_LAZY), *libm = dlopen("libm.so.6", RTLD_LAZY);
  int (*print)(const char *, ...) = (int (*)(const char *, ...))dlsym(libc, "printf");
  print("%d %s %.2f\n", V, "printf", V / 4.0);
  ((int (*)(const char *, ...))dlsym(RTLD_NEXT, "printf"))("next %d\n", V);
  ((int (*)(const char *))dlsym(libm, "puts"))("by a library that needs libc");
  ((int (*)(const char *))dlvsym(RTLD_DEFAULT, "puts", "GLIBC_2.2.5"))("versioned");
  double (*cosine)(double) = (double (*)(double))dlsym(libm, "cos");
  print("%.3f %d\n", cosine(V), dlvsym(RTLD_DEFAULT, "puts", "GLIBC_9") == NULL);

  for (size_t i = 0; i < sizeof printers / sizeof *printers; i++)
    for (int call = 0; call < printers[i].calls; call++)
      ((void (*)(const char *))find(printers[i].name))(printers[i].name);

  FILE **out = find("stdout");
  print("%d %d\n", out == &stdout, *out == stdout);
  fputs("by the stream\n", *out);
  setenv("MINE", V == 1 ? "one" : "two", 1);
  print("%s %s %d\n", ((char *(*)(const char *))find("getenv"))("MINE"), getenv("MINE"), *(char ***)find("environ") == environ);
  int *index = find("optind");
  print("%d", *index);
  print(" %d", getopt(argc, argv, V == 1 ? "a" : "b"));
  print(" %d\n", *index);
  time_t now = time(NULL);
  time_t later = ((time_t (*)(time_t *))find("time"))(NULL);
  print("%d %d\n", later >= now && later < now + 20, ((pid_t (*)(void))find("getpid"))() == getpid());
  print("%d\n", find("putchar") == (void *)put);

  dlopen("/no/such.so", RTLD_LAZY);
  find("puts");
  print("%d\n", dlerror() == NULL);

  ((int (*)(void (*)(void)))find("atexit") ?: atexit)(last);
  fflush(stdout);
  if (argc > 1 && strcmp(argv[1], "kill") == 0)
    ((int (*)(pid_t, int))find("kill"))(getpid(), V == 1 ? SIGKILL : SIGTERM);
  if (argc > 1 && strcmp(argv[1], "raise") == 0)
    ((int (*)(int))find("raise"))(V == 1 ? SIGUSR1 : SIGUSR2);
  ((void (*)(int))find("exit"))(10 + V);
  never();
  return 0;
}
