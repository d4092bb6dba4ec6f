/* What happens to the process when versions begin, change hands and fork: the parts in their order. */
#include "process.h"

void p3_process_start(void) {
  if (p3_in_klee())
    return;
  p3_stop_start();
  p3_pids_start();
  p3_pump_start();
  p3_limits_start();
  p3_signals_start();
}

void p3_process_stop(void) {
  if (p3_in_klee())
    return;
  p3_linger();
  p3_limits_restore();
  p3_signals_stop();
}

void p3_process_leave(int from) {
  if (from >= 0 && !p3_in_klee())
    p3_signals_leave(from);
}

void p3_process_enter(int from, int to) {
  if (to >= 0 && !p3_in_klee()) {
    p3_signals_enter(from, to);
    p3_limits_enter(to);
  }
}

void p3_process_forked(int version) {
  p3_stop_forked();
  p3_timers_forked();
  p3_outside_forked();
  p3_children_forked();
  p3_wait_forked();
  p3_limits_forked(version);
  p3_signals_forked(version);
}
