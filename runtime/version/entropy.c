/* Random bytes of the system: every version draws the same ones.
 *
 * They are remembered in blocks of 8, so that a version which asks for them in other portions still agrees
 * with the others block by block. arc4random's family has a stream of its own and is written here on top of
 * it, since older C libraries lack it. */
#include "p3v_process.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define BLOCK 8

/* As getrandom(2); bytes that others drew before cannot fail. */
static ssize_t draw(enum p3_question question, void *buffer, size_t size, unsigned flags) {
  char *bytes = buffer;
  size_t done = 0;
  while (done < size) {
    char block[BLOCK];
    size_t part = size - done < BLOCK ? size - done : BLOCK;
    if (!p3v_recall(question, block, BLOCK)) {
      ssize_t got = getrandom(block, BLOCK, flags);
      if (got < 0)
        return done ? (ssize_t)done : -1;
      if (got < BLOCK)
        continue;
      p3v_record(question, block, BLOCK);
    }
    memcpy(bytes + done, block, part);
    done += part;
  }
  return (ssize_t)done;
}

ssize_t SHIM(getrandom)(void *buffer, size_t size, unsigned flags) {
  return draw(P3_ASK_RANDOM, buffer, size, flags);
}

int SHIM(getentropy)(void *buffer, size_t size) {
  if (size > 256) {
    errno = EIO;
    return -1;
  }
  for (size_t done = 0; done < size;) {
    ssize_t got = draw(P3_ASK_RANDOM, (char *)buffer + done, size - done, 0);
    if (got < 0 && errno != EINTR)
      return -1;
    done += got < 0 ? 0 : (size_t)got;
  }
  return 0;
}

void SHIM(arc4random_buf)(void *buffer, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t got = draw(P3_ASK_ARC4, (char *)buffer + done, size - done, 0);
    done += got < 0 ? 0 : (size_t)got;
  }
}

uint32_t SHIM(arc4random)(void) {
  uint32_t value = 0;
  SHIM(arc4random_buf)(&value, sizeof value);
  return value;
}

uint32_t SHIM(arc4random_uniform)(uint32_t bound) {
  if (bound < 2)
    return 0;
  /* Below this, some remainders would be more frequent than others. */
  uint32_t unfair = -bound % bound, value;
  do
    value = SHIM(arc4random)();
  while (value < unfair);
  return value % bound;
}
