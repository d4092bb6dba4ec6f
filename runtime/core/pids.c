/* Process numbers.
 *
 * The k-th child of a process has the same number in every version: the kernel's for the version that forked
 * it first. For the others the pair of virtual and real number is kept here, in memory that forked children
 * share, so that children can name each other as well. Pairs of equal numbers are only kept where they would
 * be mistaken. The table is a ring: it remembers the last PAIRS children. */
#include "process.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAIRS 16384

/* version + 1 | virtual << 8 | real << 36, 0: none; numbers of processes have at most 22 bits. */
struct pairs {
  _Atomic uint64_t end;
  _Atomic uint64_t pair[PAIRS];
};
static struct pairs *pairs;

void p3_pids_start(void) {
  void *map =
      mmap(NULL, sizeof *pairs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pairs = map == MAP_FAILED ? NULL : map;
}

static int version_of(uint64_t pair) { return (int)(pair & 0xff) - 1; }
static pid_t virtual_of(uint64_t pair) { return (pid_t)(pair >> 8 & 0xfffffff); }
static pid_t real_of(uint64_t pair) { return (pid_t)(pair >> 36); }

/* The newest pair of the version in which `part` is `number`; 0: none. */
static uint64_t find(int version, pid_t (*part)(uint64_t), pid_t number) {
  uint64_t end = pairs ? atomic_load(&pairs->end) : 0;
  for (uint64_t i = end; i > 0 && end - i < PAIRS; i--) {
    uint64_t pair = atomic_load(&pairs->pair[(i - 1) % PAIRS]);
    if (pair && version_of(pair) == version && part(pair) == number)
      return pair;
  }
  return 0;
}

void p3_pid_pair(int version, pid_t virtual, pid_t real) {
  if (!pairs ||
      (virtual == real && p3_pid_real(version, virtual) == real && p3_pid_virtual(version, real) == real))
    return;
  uint64_t at = atomic_fetch_add(&pairs->end, 1);
  uint64_t pair = (uint64_t)(version + 1) | (uint64_t) virtual << 8 | (uint64_t)real << 36;
  atomic_store(&pairs->pair[at % PAIRS], pair);
}

pid_t p3_pid_real(int version, pid_t virtual) {
  uint64_t pair = virtual > 0 ? find(version, virtual_of, virtual) : 0;
  return pair ? real_of(pair) : virtual;
}

pid_t p3_pid_virtual(int version, pid_t real) {
  uint64_t pair = real > 0 ? find(version, real_of, real) : 0;
  return pair ? virtual_of(pair) : real;
}

/* 0: not known. */
static pid_t parent_of(pid_t process) {
  char path[32], text[256];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0)
    return 0;
  text[size] = 0;
  /* "number (name) state parent ..."; the name may have anything in it. */
  char *after = strrchr(text, ')');
  return after && strlen(after) > 4 ? atoi(after + 4) : 0;
}

bool p3_is_of_family(pid_t real, int *version) {
  pid_t me = getpid();
  for (pid_t process = real; process > 1;) {
    pid_t parent = parent_of(process);
    if (parent == me) {
      *version = p3_child_version(process);
      return true;
    }
    if (parent == 0 && process == real) {
      /* The sender is gone already. A short-lived descendant, if there are any. */
      int version_now = p3_current();
      return version_now >= 0 && p3_has_children(version_now);
    }
    process = parent;
  }
  return false;
}
