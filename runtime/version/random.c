/* rand and random, per version: libc's own generator over a state of the version, which gives the
 * sequence that libc's functions with the hidden state give. rand_r has no hidden state.
 * strfry draws from a state that nothing else uses. */
#include "p3v_libc.h"
#include <stdlib.h>
#include <string.h>

int SHIM(getentropy)(void *buffer, size_t size);

static p3v_lock_t lock;

/* The generator, begun as if by srandom(1). */
static struct random_data *generator(void) {
  static struct random_data data;
  static int32_t first_state[32];
  if (!data.state)
    initstate_r(1, (char *)first_state, sizeof first_state, &data);
  return &data;
}

/* The array in use, as initstate and setstate name it: with the word that holds its type. */
static char *state_array(const struct random_data *data) { return (char *)(data->state - 1); }

/* The order of the letters is drawn anew in each process, but is the same in all versions. */
char *SHIM(strfry)(char *string) {
  static struct random_data data;
  static int32_t array[8];
  if (!data.state) {
    unsigned seed = 0;
    SHIM(getentropy)(&seed, sizeof seed);
    initstate_r(seed, (char *)array, sizeof array, &data);
  }
  size_t length = strlen(string);
  for (size_t i = 0; i + 1 < length; i++) {
    int32_t number;
    random_r(&data, &number);
    size_t other = i + (size_t)number % (length - i);
    char letter = string[i];
    string[i] = string[other];
    string[other] = letter;
  }
  return string;
}

long SHIM(random)(void) {
  int32_t number;
  p3v_lock(&lock);
  random_r(generator(), &number);
  p3v_unlock(&lock);
  return number;
}

int SHIM(rand)(void) { return (int)SHIM(random)(); }

void SHIM(srandom)(unsigned seed) {
  p3v_lock(&lock);
  srandom_r(seed, generator());
  p3v_unlock(&lock);
}

void SHIM(srand)(unsigned seed) { SHIM(srandom)(seed); }

char *SHIM(initstate)(unsigned seed, char *array, size_t size) {
  p3v_lock(&lock);
  struct random_data *data = generator();
  char *before = state_array(data);
  bool done = initstate_r(seed, array, size, data) == 0;
  p3v_unlock(&lock);
  return done ? before : NULL;
}

char *SHIM(setstate)(char *array) {
  p3v_lock(&lock);
  struct random_data *data = generator();
  char *before = state_array(data);
  bool done = setstate_r(array, data) == 0;
  p3v_unlock(&lock);
  return done ? before : NULL;
}
