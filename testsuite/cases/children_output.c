// Programs that a version starts write where it writes: in order, and they see full devices and missing readers.
//@ run: pipe
//@ args: "echo out; echo error >&2; exit 3"
//@ expect: output
//@ run: one pipe for both
//@ args: "echo out; echo error >&2; echo out again"
//@ stderr: stdout
//@ expect: output
//@ run: one file for both
//@ args: "echo out; echo error >&2; echo out again"
//@ stdout: file
//@ stderr: stdout
//@ expect: output
//@ run: one end of a file for both
//@ args: "echo out; echo error >&2; echo out again"
//@ stdout: append
//@ stderr: stdout
//@ expect: output
//@ run: much
//@ args: "seq 300000"
//@ expect: output
//@ run: no reader, and nothing to write
//@ args: "exec timeout 4 tail -s 0.1 -f /dev/null"
//@ stdout: head 5
//@ expect: output
//@ run: full
//@ args: "echo out || exit 3"
//@ stdout: full
//@ expect: output
//@ run: both full
//@ args: "echo out || exit 3"
//@ stdout: full
//@ stderr: stdout
//@ run: late
//@ args: "(sleep 0.3; echo late; echo late error >&2) &"
//@ expect: output
//@ run: in the background
//@ args: "i=0; while [ $i -lt 200 ]; do echo $i; i=$((i+1)); done >&2 & wait"
//@ expect: output
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  printf("before %d\n", V);
  fflush(stdout);
  int status = system(argv[1]);
  fprintf(stderr, "version %d: exit %d signal %d\n", V, WEXITSTATUS(status), WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  printf("after %d\n", argc);
  return fflush(stdout) == 0 ? WEXITSTATUS(status) : 9;
}
