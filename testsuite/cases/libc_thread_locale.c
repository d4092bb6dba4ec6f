// A thread is in its version's locale and sees its environment.
//@ link: -lpthread
//@ run: same
//@ run: only the second version is in UTF-8
//@ args: x
//@ expect: output
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

static void *work(void *argument) {
  wchar_t wide = 0;
  mbstate_t state = {0};
  printf("%d %s %d %s\n", (int)MB_CUR_MAX, setlocale(LC_ALL, NULL), (int)mbrtowc(&wide, "\xc3\xa9", 2, &state),
         getenv("OWN"));
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;
  setenv("OWN", argc > 1 && V == 2 ? "two" : "one", 1);
  for (int i = 0; i < 2; i++) {
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    if (argc == 1 || V == 2)
      setlocale(LC_ALL, "C.UTF-8");
  }
  return 0;
}
