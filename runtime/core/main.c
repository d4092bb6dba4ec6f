/* The product's entry: prepares every version, runs them, ends with the combined status. */
#include "p3_runtime.h"
#include <stdlib.h>

struct p3_state p3_states[P3_MAX_VERSIONS];

int main(int argc, char **argv, char **envp) {
  int status = 0;
  for (int i = 0; i < p3_count; i++)
    p3_versions[i]->init(argc, argv, envp);
  if (p3_lockstep)
    p3_lockstep();
  for (int i = 0; i < p3_count; i++) {
    if (!p3_lockstep)
      p3_versions[i]->run();
    /* Arithmetic, not a branch: a symbolic status must not fork. */
    int failed = (p3_states[i].end != P3_EXITED) | (p3_states[i].value != 0);
    status |= failed << (p3_count <= 7 ? i : 0);
  }
  return status;
}
