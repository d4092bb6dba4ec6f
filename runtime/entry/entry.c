/* The way from main to the function and back: where the bytes come from, and the order of things. */
#include "entry.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The product's; a version that is built alone has none of these. */
extern __attribute__((weak)) bool p3_is_harness;
__attribute__((weak)) size_t klee_get_obj_size(void *object);
__attribute__((weak)) void klee_assume(uintptr_t condition);
__attribute__((weak)) void klee_make_symbolic(void *object, size_t size, const char *name);

void p3_entry_start(int argc, char **argv);
void *p3_entry_frame(const struct p3_signature *signature);
void p3_entry_returned(void);
const uint8_t *p3_entry_data(void);
size_t p3_entry_size(void);
void p3_entry_target_returned(const char *name, int value);
int p3_entry_status(void);

const uint8_t *p3_entry_bytes;
size_t p3_entry_left;
size_t p3_entry_room = 8;

static int arguments, next_argument;
static char **argument;
static bool is_done, has_failed, is_exact;
static uint8_t *input;
static struct p3_call call;

bool p3_entry_in_klee(void) {
  static char probe[2];
  return klee_get_obj_size && klee_get_obj_size(probe) != 0;
}

bool p3_entry_in_harness(void) { return &p3_is_harness && p3_is_harness; }

/* ---- the bytes ---- */

/* Everything that there is to read, in a block of just that size, so that sanitizers see every step beyond it. */
static bool read_all(int fd) {
  size_t room = 4096, size = 0;
  uint8_t *bytes = malloc(room);
  ssize_t got;
  while (bytes && ((got = read(fd, bytes + size, room - size)) > 0 || (got < 0 && errno == EINTR))) {
    size += got > 0 ? (size_t)got : 0;
    if (size == room)
      bytes = realloc(bytes, room *= 2);
  }
  if (!bytes || got < 0)
    return free(bytes), false;
  free(input);
  input = malloc(size ? size : 1);
  if (input)
    memcpy(input, bytes, size);
  free(bytes);
  p3_entry_bytes = input;
  p3_entry_left = size;
  return input;
}

static bool read_file(const char *name) {
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  bool is_read = fd >= 0 && read_all(fd);
  if (!is_read)
    fprintf(stderr, "%s: %s\n", name, strerror(errno));
  if (fd >= 0)
    close(fd);
  return is_read;
}

static bool read_next(void) {
  if (arguments < 2) {
    bool is_first = !is_done;
    is_done = true;
    return is_first && read_all(STDIN_FILENO);
  }
  while (next_argument < arguments) {
    if (read_file(argument[next_argument++]))
      return true;
    has_failed = true;
  }
  return false;
}

static void read_options(void) {
  static const char option[] = "-size=";
  for (int i = 1; i < arguments; i++) {
    if (strncmp(argument[i], option, sizeof option - 1) == 0)
      p3_entry_room = strtoul(argument[i] + sizeof option - 1, NULL, 10);
    if (strcmp(argument[i], "-exact") == 0)
      is_exact = true;
  }
}

bool p3_entry_is_exact(void) { return is_exact; }

size_t p3_entry_settle(size_t length) {
  /* Volatile: the compiler would see that it is the length, which is symbolic. */
  volatile size_t settled = is_exact ? 0 : p3_entry_room;
  klee_assume(length <= p3_entry_room);
  while (settled < p3_entry_room && length != settled)
    settled = settled + 1;
  return settled;
}

bool p3_entry_next(void) {
  if (!p3_entry_in_klee()) {
    bool is_there = read_next();
    errno = 0;
    return is_there;
  }
  if (is_done)
    return false;
  is_done = true;
  read_options();
  return true;
}

void p3_entry_symbolic(void *to, size_t size, const char *name) {
  /* Only whole objects become symbolic. */
  char *object = malloc(size ? size : 1);
  if (!object || !size)
    return;
  klee_make_symbolic(object, size, name);
  memcpy(to, object, size);
}

void p3_entry_start(int argc, char **argv) {
  arguments = argc;
  argument = argv;
  next_argument = 1;
}

int p3_entry_status(void) { return has_failed; }

/* ---- a function ---- */

/* The parameters and the result of the next call; null: there is none. */
void *p3_entry_frame(const struct p3_signature *signature) {
  if (!p3_entry_next())
    return NULL;
  call.signature = signature;
  call.block_count = 0;
  call.frame = calloc(1, signature->frame + 16);
  if (!call.frame)
    return NULL;
  p3_entry_take(&call);
  if (!p3_entry_in_klee() && !p3_entry_in_harness()) {
    p3_entry_show_arguments(&call);
    fflush(stdout);
  }
  errno = 0;
  return call.frame;
}

void p3_entry_returned(void) {
  if (p3_entry_in_klee())
    p3_entry_put_results(&call);
  else
    p3_entry_show_results(&call);
}

const struct p3_block *p3_entry_block_of(const struct p3_call *made, const void *pointer) {
  uintptr_t address = (uintptr_t)pointer;
  const struct p3_block *end = made->blocks + made->block_count;
  for (const struct p3_block *block = made->blocks; block < end; block++)
    if ((uintptr_t)block->at <= address && address < (uintptr_t)block->at + block->size)
      return block;
  for (const struct p3_block *block = made->blocks; block < end; block++)
    if (address == (uintptr_t)block->at + block->size)
      return block;
  return NULL;
}

/* ---- a fuzz target ---- */

static size_t data_size;

/* The next input; null: there is none. */
const uint8_t *p3_entry_data(void) {
  if (!p3_entry_next())
    return NULL;
  if (p3_entry_in_klee()) {
    p3_entry_symbolic(&p3_entry_left, sizeof p3_entry_left, "size");
    size_t room = p3_entry_settle(p3_entry_left);
    input = malloc(room ? room : 1);
    p3_entry_symbolic(input, room, "data");
  }
  data_size = p3_entry_left;
  return input;
}

size_t p3_entry_size(void) { return data_size; }

/* What a fuzz target returns is output, too, unless it is what all of them return. */
void p3_entry_target_returned(const char *name, int value) {
  if (p3_entry_in_klee()) {
    fflush(stdout);
    (void)!write(STDOUT_FILENO, &value, sizeof value);
  } else if (value) {
    printf("%s returned %d\n", name, value);
  }
}
