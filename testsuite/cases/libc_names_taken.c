// A program that defines functions and variables with names of libc that the runtime uses.
//@ run: same
//@ run: the second version answers otherwise
//@ args: x
//@ expect: output
//@ cflags: -fno-builtin -Wno-everything
int printf(const char *, ...);
char *strsignal(int);
int setenv(const char *, const char *, int);
char *getenv(const char *);
void error(int, int, const char *, ...);
int rand(void);
int getopt(int, char *const *, const char *);

static int calls;
int fcntl(int fd) { return calls += fd; }
int snprintf(int a, int b) { return calls += a + b; }
void *tsearch(void) { return (void *)(long)(calls += 100); }
int vasprintf(void) { return calls++; }
int getline(char *line, int limit) { return calls += limit; }
int strdup(int x) { return -x; }
int random_r(int x) { return x + 1; }
int memcmp(const void *a, const void *b, unsigned long size) { return (int)(calls += (int)size); }
int optind = 2;
char *optarg = "mine";

int main(int argc, char **argv) {
  char *own[] = {"prog", "skipped", "-ax", "-b", "rest", (void *)0};
  int code;
  setenv("A", "b", 1);
  setenv("A", "c", 1);
  printf("%s %s %d\n", getenv("A"), strsignal(200), rand());
  printf("%s %d\n", optarg, optind);
  while ((code = getopt(5, own, "a:b")) != -1)
    printf("%c %s %d\n", code, optarg ? optarg : "none", optind);
  error(0, 2, "%d calls", calls);
  printf("%d %d %d %d\n", fcntl(1), snprintf(2, 3), strdup(4), random_r(V == 2 && argc > 1 ? 8 : 9));
  printf("%d %d %d\n", getline("", 5), memcmp("a", "a", 1), calls);
  return 0;
}
