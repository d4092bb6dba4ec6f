/* dlerror's message, per version: libc keeps the last one of the thread. */
#include "p3v_libc.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char *message; /* null: no failure since the last dlerror */

static void take_message(void) {
  char *text = dlerror();
  free(message);
  message = text ? strdup(text) : NULL;
}

void *SHIM(dlopen)(const char *path, int mode) {
  p3v_own();
  void *handle = dlopen(path, mode);
  if (!handle)
    take_message();
  return handle;
}

void *SHIM(dlmopen)(Lmid_t space, const char *path, int mode) {
  p3v_own();
  void *handle = dlmopen(space, path, mode);
  if (!handle)
    take_message();
  return handle;
}

int SHIM(dlinfo)(void *handle, int request, void *answer) {
  int failure = dlinfo(handle, request, answer);
  if (failure)
    take_message();
  return failure;
}

/* Null may be the symbol's value as well; libc then has no message. */
void *SHIM(dlsym)(void *handle, const char *name) {
  void *value = dlsym(handle, name);
  if (!value)
    take_message();
  p3_symbol_found(value);
  return value;
}

void *SHIM(dlvsym)(void *handle, const char *name, const char *version) {
  void *value = dlvsym(handle, name, version);
  if (!value)
    take_message();
  p3_symbol_found(value);
  return value;
}

int SHIM(dlclose)(void *handle) {
  int failure = dlclose(handle);
  if (failure)
    take_message();
  return failure;
}

char *SHIM(dlerror)(void) {
  static _Thread_local char *given;
  free(given);
  given = message;
  message = NULL;
  return given;
}
