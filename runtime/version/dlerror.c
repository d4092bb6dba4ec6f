/* The dynamic linker, per version: dlerror's message, of which libc keeps the last one of the thread, and what dlsym
 * finds. libc's functions and variables that there are shims for are the shims; and though the product shows nothing of
 * a version, the version's own definitions are found where they would be in the version alone. The isolate pass lists
 * both, as far as the program may ask for them. In KLEE, which has no dlsym, nothing is looked up here. */
#include "p3v_libc.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct p3v_symbol {
  const char *name;
  void *shim;               /* null: none for this name */
  void *own;                /* null: the program does not define it, or each thread has it for itself */
  void *(*of_thread)(void); /* then this returns the calling thread's */
};

/* Ends with a null name. */
extern const struct p3v_symbol p3v_symbols[];

/* glibc's own libraries, and the kernel's, which glibc gives out for its own time functions. */
static const char libc_files[][24] = {
    "ld-linux-x86-64.so.2", "libanl.so.1",    "libc.so.6",  "libcrypt.so.1", "libdl.so.2",      "libm.so.6",
    "libpthread.so.0",      "libresolv.so.2", "librt.so.1", "libutil.so.1",  "linux-vdso.so.1",
};

static _Thread_local char *message; /* null: the last call has not failed */

static void take_message(void) {
  char *text = dlerror();
  free(message);
  message = text ? strdup(text) : NULL;
}

void *SHIM(dlopen)(const char *path, int mode) {
  p3v_own();
  void *handle = dlopen(path, mode);
  take_message();
  return handle;
}

void *SHIM(dlmopen)(Lmid_t space, const char *path, int mode) {
  p3v_own();
  void *handle = dlmopen(space, path, mode);
  take_message();
  return handle;
}

int SHIM(dlinfo)(void *handle, int request, void *answer) {
  int failure = dlinfo(handle, request, answer);
  take_message();
  return failure;
}

/* Where the file that `symbol` is in begins; null if that is not known. */
static const void *file_of(const void *symbol, const char **name) {
  Dl_info info;
  if (!symbol || !dladdr(symbol, &info))
    return NULL;
  const char *directories = strrchr(info.dli_fname, '/');
  *name = directories ? directories + 1 : info.dli_fname;
  return info.dli_fbase;
}

static bool is_in_product(const void *symbol) {
  const char *name;
  const void *file = file_of(symbol, &name);
  return file && file == file_of(p3v_symbols, &name);
}

/* Whether a symbol that has a shim is libc's, and not one of the same name in another library. In the product itself it
 * is what stands in for libc's there, such as a sanitizer's, or comes from where the program's own references to it are
 * bound to the shim as well. */
static bool is_of_libc(const void *symbol) {
  const char *name;
  if (!file_of(symbol, &name))
    return false;
  for (size_t i = 0; i < sizeof libc_files / sizeof *libc_files; i++)
    if (strcmp(name, libc_files[i]) == 0)
      return true;
  return is_in_product(symbol);
}

/* Whether a search begins at the program. */
static bool begins_at_program(void *handle) {
  if (handle == RTLD_DEFAULT)
    return true;
  if (handle == RTLD_NEXT)
    return false;
  void *program = dlopen(NULL, RTLD_LAZY);
  dlclose(program);
  return handle == program;
}

/* Whether the product was linked so that it shows what the program defines. */
static bool is_showing(void) {
  static const char entry[] = "main";
  return is_in_product(dlsym(RTLD_DEFAULT, entry));
}

static void *own_of(const struct p3v_symbol *symbol) { return symbol->of_thread ? symbol->of_thread() : symbol->own; }

/* What the version finds where libc finds `value`. What the program defines under a name of libc's is shown to libc by
 * every linker; it has no version, so that dlvsym does not find it. */
static void *found(void *handle, const char *name, bool is_versioned, void *value) {
  if (p3_in_klee())
    return value;
  const struct p3v_symbol *symbol = p3v_symbols;
  while (symbol->name && strcmp(symbol->name, name) != 0)
    symbol++;
  if (symbol->name) {
    bool is_libcs = is_of_libc(value);
    bool has_own = symbol->own || symbol->of_thread;
    if (has_own && !is_versioned && begins_at_program(handle) && (is_libcs || is_showing())) {
      free(message);
      message = NULL;
      return own_of(symbol);
    }
    if (symbol->shim && is_libcs)
      return symbol->shim;
  }
  p3_symbol_found(value);
  return value;
}

void *SHIM(dlsym)(void *handle, const char *name) {
  void *value = dlsym(handle, name);
  take_message();
  return found(handle, name, false, value);
}

void *SHIM(dlvsym)(void *handle, const char *name, const char *version) {
  void *value = dlvsym(handle, name, version);
  take_message();
  return found(handle, name, true, value);
}

int SHIM(dlclose)(void *handle) {
  int failure = dlclose(handle);
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
