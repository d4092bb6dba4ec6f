/* The user, group and network databases, per version: the patterns for static_users.c and static_network.c.
 *
 * A look-up returns a buffer that libc owns: the version has a buffer of its own and calls the _r form.
 * An enumeration has its place inside libc, where it cannot be kept apart: the version counts the
 * entries that it has been given, and when libc is at another version's place, it begins again
 * and skips as many. The entries themselves always come from libc. */
#ifndef P3V_DATABASE_H
#define P3V_DATABASE_H

#include "p3v_libc.h"
#include <errno.h>
#include <stdlib.h>

struct p3v_buffer {
  char *bytes;
  size_t size;
};

/* Makes the buffer larger. False: no memory. */
bool p3v_grow(struct p3v_buffer *buffer);

/* A place in an enumeration. */
struct p3v_position {
  unsigned count; /* entries given since the beginning */
  int stay_open;
};

/* Repeats CALL, which uses `bytes` and `size`, with larger and larger buffers until they are large enough. */
#define P3V_WITH_BUFFER(call)                                                                                \
  static struct p3v_buffer buffer;                                                                           \
  if (!buffer.bytes && !p3v_grow(&buffer))                                                                   \
    return NULL;                                                                                             \
  while ((call) == ERANGE)                                                                                   \
    if (!p3v_grow(&buffer))                                                                                  \
      return NULL;

/* TYPE *NAME PARAMETERS, whose _r form is called by CALL with `entry`, `buffer` and `result`. */
#define P3V_LOOK_UP(type, name, parameters, call)                                                            \
  type *SHIM(name) parameters {                                                                              \
    static type entry;                                                                                       \
    type *result = NULL;                                                                                     \
    P3V_WITH_BUFFER(call)                                                                                    \
    return result;                                                                                           \
  }

/* GET and END of one database, and step_DATABASE, which is GET's _r form. NEXT(entry, bytes, size, &result)
 * reads the next entry from libc, BEGIN(stay_open) begins again there. */
#define P3V_ENUMERATION(type, database, get, end, next, begin)                                               \
  static struct p3v_position database##_position;                                                            \
                                                                                                             \
  static void begin_##database(void) {                                                                       \
    begin(database##_position.stay_open);                                                                    \
    p3_position_owner[database] = p3v_index + 1;                                                             \
  }                                                                                                          \
                                                                                                             \
  static type *skip_##database(void) {                                                                       \
    static type entry;                                                                                       \
    type *result = NULL;                                                                                     \
    P3V_WITH_BUFFER(next(&entry, buffer.bytes, buffer.size, &result))                                        \
    return result;                                                                                           \
  }                                                                                                          \
                                                                                                             \
  static int step_##database(type *entry, char *bytes, size_t size, type **result) {                         \
    if (p3_position_owner[database] != p3v_index + 1) {                                                      \
      begin_##database();                                                                                    \
      for (unsigned i = 0; i < database##_position.count; i++)                                               \
        skip_##database();                                                                                   \
    }                                                                                                        \
    int error = next(entry, bytes, size, result);                                                            \
    if (error == 0 && *result)                                                                               \
      database##_position.count++;                                                                           \
    return error;                                                                                            \
  }                                                                                                          \
                                                                                                             \
  P3V_LOOK_UP(type, get, (void), step_##database(&entry, buffer.bytes, buffer.size, &result))                \
                                                                                                             \
  void SHIM(end)(void) {                                                                                     \
    database##_position = (struct p3v_position){0};                                                          \
    if (p3_position_owner[database] == p3v_index + 1) {                                                      \
      p3_position_owner[database] = 0;                                                                       \
      end();                                                                                                 \
    }                                                                                                        \
  }

/* GET_r. */
#define P3V_STEP(type, database, get_r)                                                                      \
  int SHIM(get_r)(type * entry, char *bytes, size_t size, type **result) {                                   \
    return step_##database(entry, bytes, size, result);                                                      \
  }

/* SET without and with the parameter that asks for a connection to be kept. */
#define P3V_BEGIN(database, set)                                                                             \
  void SHIM(set)(void) {                                                                                     \
    database##_position.count = 0;                                                                           \
    begin_##database();                                                                                      \
  }
#define P3V_BEGIN_STAY_OPEN(database, set)                                                                   \
  void SHIM(set)(int stay_open) {                                                                            \
    database##_position.count = 0;                                                                           \
    database##_position.stay_open |= stay_open;                                                              \
    begin_##database();                                                                                      \
  }

#endif
