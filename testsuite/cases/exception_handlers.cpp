// std::set_terminate and std::get_terminate: each version has its own handler, which ends it in one way or another.
//@ versions: 2 3
//@ link: -lstdc++ -lpthread
//@ run: exit
//@ args: exits
//@ expect: status
//@ run: abort
//@ args: aborts
//@ run: return
//@ args: returns
//@ run: a look at the exception
//@ args: looks
//@ run: libstdc++'s, called
//@ args: calls
//@ run: libstdc++'s, set
//@ args: sets
//@ run: what is set
//@ args: asks
//@ run: only one version sets it
//@ args: one
//@ expect: both
//@ run: in a thread
//@ args: exits thread
//@ expect: status
//@ run: only one version sets it, in a thread
//@ args: one thread
//@ expect: both
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

static const std::terminate_handler library = __gnu_cxx::__verbose_terminate_handler;

static void exits() {
  puts("exits");
  exit(10 + V);
}

static void aborts() {
  puts("aborts");
  abort();
}

static void returns() { puts("returns"); }

static void looks() {
  try {
    throw;
  } catch (std::exception &exception) {
    puts(exception.what());
  }
  _exit(7);
}

static void calls() {
  puts("calls");
  library();
}

static void *run(void *argument) {
  std::string what = static_cast<char *>(argument);
  if (what == "exits")
    std::set_terminate(exits);
  if (what == "aborts")
    std::set_terminate(aborts);
  if (what == "returns")
    std::set_terminate(returns);
  if (what == "looks")
    std::set_terminate(looks);
  if (what == "calls")
    std::set_terminate(calls);
  if (what == "sets")
    std::set_terminate(library);
  if (what == "asks") {
    printf("library's %d\n", std::get_terminate() == library);
    printf("library's %d\n", std::set_terminate(looks) == library);
    printf("own %d\n", std::get_terminate() == looks);
    printf("own %d\n", std::set_terminate(returns) == looks);
  }
  if (what == "one" && V == 2)
    std::set_terminate(exits);
  throw std::runtime_error("bad");
}

int main(int argc, char **argv) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  if (argc > 2) {
    pthread_t thread;
    pthread_create(&thread, nullptr, run, argv[1]);
    pthread_join(thread, nullptr);
  } else {
    run(argv[1]);
  }
  return 0;
}
