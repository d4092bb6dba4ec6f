// A program that does not show what it defines finds nothing of it by dlsym, but for what libc has, too.
//@ expect: output
//@ link: -ldl
//@ run: names
//@ args: shown main total
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int total = V;
int shown(void);
int shown(void) { return V; }
int puts(const char *text) { return printf("%d: %s\n", V, text); }

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    printf("%s %d %d\n", argv[i], dlsym(RTLD_DEFAULT, argv[i]) != NULL, dlsym(dlopen(NULL, RTLD_NOW), argv[i]) != NULL);
  char *text = dlerror();
  printf("[%s]\n", text ? strstr(text, "undefined") : "none");
  ((int (*)(const char *))dlsym(RTLD_DEFAULT, "puts"))("own");
  ((int (*)(const char *))dlsym(RTLD_NEXT, "puts"))("libc's");
  return shown() - total;
}
