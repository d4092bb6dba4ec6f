/* What product functions report while they run: places where versions leave lock-step, results that differ
 * (`merge --check divergence,returns`).
 *
 * The records belong to the places and are written by the weave pass. Those that were reported are linked in
 * the order of their first report. With threads a count may be too small. */
#include "process.h"
#include <string.h>

enum { ABORT, LOG, COUNT, EXPLORE, REACTIONS };
static int reaction;

__attribute__((weak)) void klee_set_forking(unsigned enable);

struct p3_parting *p3_partings;
static struct p3_parting **last = &p3_partings;

void p3_parting_configure(const char *value) {
  static const char words[][8] = {[ABORT] = "abort", [LOG] = "log", [COUNT] = "count", [EXPLORE] = "explore"};
  /* Somebody who takes one version's status takes the product for that version. */
  reaction = p3_config.status == P3_NOBODY ? ABORT : COUNT;
  if (!value)
    return;
  for (reaction = 0; reaction < REACTIONS && strcmp(value, words[reaction]) != 0; reaction++)
    ;
  if (reaction == REACTIONS)
    p3_fatal("P3_ON_DIVERGENCE=%s: expected abort, count, explore or log", value);
  /* Up to a divergence KLEE does nothing but follow its seeds. */
  if (reaction == EXPLORE && p3_in_klee())
    klee_set_forking(0);
}

const char *p3_parting_name(const struct p3_parting *parting) {
  static const char *const names[] = {"branch", "switch", "call", "return", "exit"};
  return names[parting->kind];
}

void p3_parting_say(const struct p3_parting *parting, unsigned versions) {
  int first = 0, other;
  while (!parting->places[first])
    first++;
  for (other = first + 1; other < p3_count && !(versions >> other & 1); other++)
    ;
  if (other == p3_count)
    return;
  if (parting->kind == P3_PARTING_RETURN)
    p3_say("returns: version %d (%s) at %s returns another value than version %d (%s) at %s", other + 1,
           p3_names[other], parting->places[other], first + 1, p3_names[first], parting->places[first]);
  else
    p3_say("divergence: version %d (%s) at %s parts from version %d (%s) at %s: %s", other + 1, p3_names[other],
           parting->places[other], first + 1, p3_names[first], parting->places[first],
           p3_parting_name(parting));
}

bool p3_parted(struct p3_parting *parting, unsigned versions) {
  if (!parting->count++) {
    *last = parting;
    last = &parting->next;
  }
  parting->versions |= versions;
  /* No check: the versions' conditions are equal there. */
  if (parting->kind == P3_PARTING_EXIT)
    return false;
  if (reaction == EXPLORE && p3_in_klee() && parting->kind != P3_PARTING_RETURN)
    klee_set_forking(1);
  if (reaction < COUNT)
    p3_parting_say(parting, versions);
  p3_raising = reaction == ABORT; /* the product will; it is no crash of a version */
  return reaction == ABORT;
}
