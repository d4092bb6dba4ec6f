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
    if (p3_states[i].end != P3_EXITED || p3_states[i].value != 0)
      status |= p3_count <= 7 ? 1 << i : 1;
  }
  return status;
}
