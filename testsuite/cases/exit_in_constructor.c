// A constructor ends the program before main; a destructor prints after it.
//@ run: main
//@ expect: none
//@ run: constructor
//@ env: STOP=1
//@ expect: status
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void before(void) {
  puts("before");
  if (getenv("STOP"))
    exit(2 + V);
}

__attribute__((destructor)) static void after(void) { puts("after"); }

int main(void) {
  puts("main");
  return 1;
}
