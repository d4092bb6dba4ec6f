/* Password hashes and salts in static buffers of libcrypt, per version. */
#include "p3v_libc.h"
#include <crypt.h>
#include <errno.h>
#include <stdlib.h>

char *SHIM(crypt)(const char *phrase, const char *setting) {
  static struct crypt_data *data;
  if (!data && !(data = calloc(1, sizeof *data)))
    return NULL;
  return crypt_r(phrase, setting, data);
}

char *SHIM(crypt_gensalt)(const char *prefix, unsigned long count, const char *bytes, int size) {
  static char setting[CRYPT_GENSALT_OUTPUT_SIZE];
  return crypt_gensalt_rn(prefix, count, bytes, size, setting, sizeof setting);
}
