// A program that shows what it defines finds it by dlsym, each version its own.
//@ versions: 2 3
//@ expect: both
//@ link: -rdynamic -ldl
//@ run: names
//@ args: count_up count_down total hidden secret each main nothing
//@ run: parts
//@ args: up down
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int total = V * 100;
bool is_new = V > 1;
_Thread_local int each = V * 7;
__attribute__((visibility("hidden"))) int hidden = 5;
static int secret = 6;

int count_up(int by);
int count_up(int by) { return total += by; }
int count_down(int by);
int count_down(int by) {
  if (by > 40 * V)
    exit(V);
  return total -= by * V;
}
int putchar(int c) { return printf("<%c>", c + V); }
__attribute__((weak)) const char *label(void) { return V == 1 ? "old" : "new"; }
extern int count_again(int) __attribute__((alias("count_up")));

static void *find(void *handle, const char *name) { return dlsym(handle, name); }

int main(int argc, char **argv) {
  void *self = dlopen(NULL, RTLD_NOW);
  printf("%d %d\n", dlsym(self, "count_up") == (void *)count_up, find(RTLD_DEFAULT, "total") == &total);
  printf("%d %d\n", *(bool *)find(self, "is_new"), find(self, "each") == &each);
  printf("%s\n", ((const char *(*)(void))dlsym(self, "label"))());
  printf("%d\n", ((int (*)(int))find(self, "count_again"))(secret));
  for (int i = 1; i < argc; i++) {
    char name[40];
    snprintf(name, sizeof name, "count_%s", argv[i]);
    void *part = find(self, name), *whole = find(RTLD_DEFAULT, argv[i]);
    printf("%s: %d %d %d %d\n", argv[i], part != NULL, whole != NULL, find(RTLD_NEXT, argv[i]) != NULL,
           dlvsym(self, argv[i], "GLIBC_2.2.5") != NULL);
    if (part)
      for (int j = 0; j < 30; j += 10)
        printf("%d\n", ((int (*)(int))part)(j));
  }
  char *text = dlerror();
  printf("%s\n", text ? strstr(text, "undefined") : "none");
  int (*own)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "putchar");
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "putchar");
  own('a');
  next('b');
  next('\n');
  void *libc = dlopen("libc.so.6", RTLD_NOW);
  printf("%d %d\n", dlsym(libc, "putchar") == (void *)next, dlsym(libc, "count_up") == NULL);
  return ((int (*)(int))find(self, "count_down"))(30 * V + 20) & 0x7f;
}
