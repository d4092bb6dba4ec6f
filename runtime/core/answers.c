/* The log of answers that no two versions may get differently: time, process numbers, random bytes.
 *
 * Natively the answers are in one unlinked file, mapped shared, since forked children of different versions
 * must agree as well: the k-th child of version 1 and of version 2 are the same process to their versions.
 * There is one stream of answers per process, thread and question, made of chunks that double in size; small
 * chunks lie in a part of the file that is mapped all the time, each large one is mapped only while a cursor
 * is on it, so that a program which asks for the time a million times needs disk, not memory. Everything is
 * lock-free: these questions may be asked in signal handlers, and a child may be killed at any moment. When
 * the file is full or the disk is, later questions are simply not remembered any more.
 *
 * Where there is one process and one thread, in KLEE and in a harness, the answers are in growing arrays. They
 * may be symbolic.
 */
#include "process.h"
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LARGEST (1ull << 30)
#define NEAR_SIZE (8ull << 20) /* the part that is always mapped */
#define STREAMS 16384
#define CHUNKS 22
#define FIRST_CHUNK 256u /* bytes; chunk c has FIRST_CHUNK << c */
#define NEAR_CHUNKS 6    /* chunks below this number are in the near part */
#define PAGE 4096u
#define FULL UINT32_MAX

struct stream {
  _Atomic uint64_t key;           /* 0: free */
  _Atomic uint32_t chunk[CHUNKS]; /* offset in units of FIRST_CHUNK, 0: none yet, FULL: never */
};

struct header {
  int file; /* hidden descriptor; -1: none, there is the near part only */
  uint64_t size;
  _Atomic uint64_t near_end, far_end;
  struct stream streams[STREAMS];
};

enum { EMPTY, WRITING, READY };

struct slot {
  _Atomic uint32_t state;
  uint32_t unused;
  char answer[];
};

static _Atomic(struct header *) header;

void p3_answers_open(void) {
  if (p3_in_klee() || atomic_load(&header))
    return;
  /* A file that is too large would send a signal, which is nobody's. */
  uint64_t limit = p3_file_limit(), size = limit < LARGEST ? limit / PAGE * PAGE : LARGEST;
  int file = size >= NEAR_SIZE ? p3_temporary_file() : -1;
  void *map = MAP_FAILED;
  if (file >= 0 && ftruncate(file, (off_t)size) == 0)
    map = mmap(NULL, NEAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (map == MAP_FAILED) {
    if (file >= 0)
      close(file);
    file = -1;
    map = mmap(NULL, NEAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (map == MAP_FAILED)
    return;
  struct header *new = map, *none = NULL;
  new->file = file;
  new->size = size;
  atomic_store(&new->near_end, (sizeof *new + PAGE - 1) / PAGE * PAGE);
  atomic_store(&new->far_end, NEAR_SIZE);
  if (!atomic_compare_exchange_strong(&header, &none, new)) { /* another thread was quicker */
    munmap(map, NEAR_SIZE);
    if (file >= 0)
      close(file);
  }
}

int p3_answers_file(void) {
  struct header *log = atomic_load(&header);
  return log ? log->file : -1;
}

void p3_answers_resume(int file) {
  void *map = file < 0 ? MAP_FAILED : mmap(NULL, NEAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  p3_fd_keep(file);
  if (map != MAP_FAILED)
    atomic_store(&header, map);
}

static struct stream *find_stream(uint64_t key) {
  struct header *log = atomic_load(&header);
  if (!log)
    return NULL;
  uint64_t at = key * 0x9e3779b97f4a7c15u >> 50;
  for (int tries = 0; tries < STREAMS; tries++, at = (at + 1) % STREAMS) {
    uint64_t there = atomic_load(&log->streams[at].key);
    if (there == 0 && atomic_compare_exchange_strong(&log->streams[at].key, &there, key))
      return &log->streams[at];
    if (there == key)
      return &log->streams[at];
  }
  return NULL;
}

/* Reserves room for a chunk: its offset, 0 if there is none. On disk, too: writing to a mapped page that the
 * disk has no room for is a crash. */
static uint64_t allocate(uint32_t number) {
  struct header *log = atomic_load(&header);
  uint64_t size = (uint64_t)FIRST_CHUNK << number;
  bool near = number < NEAR_CHUNKS;
  if (!near && log->file < 0)
    return 0;
  uint64_t offset = atomic_fetch_add(near ? &log->near_end : &log->far_end, size);
  if (offset + size > (near ? NEAR_SIZE : log->size))
    return 0;
  if (log->file >= 0 && fallocate(log->file, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size) != 0 &&
      errno != EOPNOTSUPP)
    return 0;
  return offset;
}

static void leave_chunk(struct p3_cursor *cursor) {
  if (cursor->chunk && cursor->chunk_number >= NEAR_CHUNKS)
    munmap(cursor->chunk, (size_t)FIRST_CHUNK << cursor->chunk_number);
  cursor->chunk = NULL;
}

static bool enter_chunk(struct p3_cursor *cursor, bool create) {
  struct stream *stream = cursor->stream;
  _Atomic uint32_t *where = &stream->chunk[cursor->chunk_number];
  uint32_t unit = atomic_load(where);
  if (unit == 0) {
    if (!create)
      return false;
    uint64_t offset = allocate(cursor->chunk_number);
    uint32_t mine = offset ? (uint32_t)(offset / FIRST_CHUNK) : FULL;
    if (atomic_compare_exchange_strong(where, &unit, mine))
      unit = mine;
  }
  if (unit == FULL)
    return false;
  if (cursor->chunk_number < NEAR_CHUNKS) {
    cursor->chunk = (char *)atomic_load(&header) + (uint64_t)unit * FIRST_CHUNK;
    return true;
  }
  void *map = mmap(NULL, (size_t)FIRST_CHUNK << cursor->chunk_number, PROT_READ | PROT_WRITE, MAP_SHARED,
                   atomic_load(&header)->file, (off_t)((uint64_t)unit * FIRST_CHUNK));
  if (map == MAP_FAILED)
    return false;
  cursor->chunk = map;
  return true;
}

static struct slot *find_slot(struct p3_cursor *cursor, struct p3_asker asker, enum p3_question question,
                              size_t size, bool create) {
  uint32_t room = (uint32_t)(sizeof(struct slot) + (size + 7) / 8 * 8);
  if (!cursor->stream) {
    p3_answers_open();
    /* Never 0: the process number is not. */
    cursor->stream =
        find_stream((uint64_t)asker.process << 32 | (uint64_t)(asker.thread & 0xffffff) << 8 | question);
    cursor->chunk_answers = FIRST_CHUNK / room;
  }
  if (!cursor->stream)
    return NULL;
  while (cursor->next - cursor->chunk_first >= cursor->chunk_answers) {
    if (cursor->chunk_number + 1 == CHUNKS)
      return NULL;
    leave_chunk(cursor);
    cursor->chunk_first += cursor->chunk_answers;
    cursor->chunk_number++;
    cursor->chunk_answers = (FIRST_CHUNK << cursor->chunk_number) / room;
  }
  if (!cursor->chunk && !enter_chunk(cursor, create))
    return NULL;
  return (struct slot *)(cursor->chunk + (cursor->next - cursor->chunk_first) * room);
}

/* Waits for a version in another process or thread that is just answering. False: it was killed meanwhile. */
static bool settle(struct slot *slot) {
  for (int tries = 0; atomic_load_explicit(&slot->state, memory_order_acquire) == WRITING; tries++) {
    if (tries > 1000)
      return false;
    sched_yield();
  }
  return atomic_load_explicit(&slot->state, memory_order_acquire) == READY;
}

/* The same for one thread of one process. */
struct array {
  char *bytes;
  size_t used, room;
};
static struct array arrays[P3_QUESTIONS];

static bool recall_alone(struct p3_cursor *cursor, enum p3_question question, void *answer, size_t size) {
  struct array *array = &arrays[question];
  if ((cursor->next + 1) * size > array->used)
    return false;
  memcpy(answer, array->bytes + cursor->next++ * size, size);
  return true;
}

static void record_alone(struct p3_cursor *cursor, enum p3_question question, const void *answer,
                           size_t size) {
  struct array *array = &arrays[question];
  cursor->next++;
  if (array->used + size > array->room) {
    size_t room = array->room ? 2 * array->room : 16 * size;
    char *bytes = realloc(array->bytes, room);
    if (!bytes)
      return;
    array->bytes = bytes;
    array->room = room;
  }
  memcpy(array->bytes + array->used, answer, size);
  array->used += size;
}

bool p3_recall(struct p3_cursor *cursor, struct p3_asker asker, enum p3_question question, void *answer,
               size_t size) {
  if (p3_in_klee() || p3_in_process)
    return recall_alone(cursor, question, answer, size);
  if (cursor->busy)
    return false;
  int saved = errno;
  cursor->busy = true;
  struct slot *slot = find_slot(cursor, asker, question, size, false);
  bool known = slot && settle(slot);
  if (known) {
    memcpy(answer, slot->answer, size);
    cursor->next++;
  }
  cursor->busy = false;
  errno = saved;
  return known;
}

void p3_record(struct p3_cursor *cursor, struct p3_asker asker, enum p3_question question, void *answer,
               size_t size) {
  if (p3_in_klee() || p3_in_process) {
    record_alone(cursor, question, answer, size);
    return;
  }
  if (cursor->busy)
    return;
  int saved = errno;
  cursor->busy = true;
  struct slot *slot = find_slot(cursor, asker, question, size, true);
  uint32_t state = EMPTY;
  if (slot && atomic_compare_exchange_strong(&slot->state, &state, WRITING)) {
    memcpy(slot->answer, answer, size);
    atomic_store_explicit(&slot->state, READY, memory_order_release);
  } else if (slot && settle(slot)) {
    memcpy(answer, slot->answer, size);
  }
  cursor->next++;
  cursor->busy = false;
  errno = saved;
}
