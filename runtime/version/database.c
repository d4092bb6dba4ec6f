/* Buffers for look-ups; see p3v_database.h. */
#include "p3v_database.h"

bool p3v_grow(struct p3v_buffer *buffer) {
  size_t size = buffer->size ? 2 * buffer->size : 1024;
  char *bytes = realloc(buffer->bytes, size);
  if (!bytes) {
    errno = ENOMEM;
    return false;
  }
  *buffer = (struct p3v_buffer){bytes, size};
  return true;
}
