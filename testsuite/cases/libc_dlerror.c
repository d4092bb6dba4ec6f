// dlerror's message.
//@ run: same
//@ run: the first version leaves a message behind
//@ args: x
//@ expect: output
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  char *text = dlerror();
  printf("%s\n", text ? text : "none");
  printf("%d\n", dlopen("/no/such.so", RTLD_NOW) == NULL);
  if (argc > 1 && V == 1)
    return 0;
  printf("%s\n", dlerror());
  text = dlerror();
  printf("%s\n", text ? text : "none");
  printf("%d\n", dlsym(RTLD_DEFAULT, "no_such_symbol") == NULL);
  text = dlerror();
  printf("%s\n", text ? "message" : "none");
  return 0;
}
