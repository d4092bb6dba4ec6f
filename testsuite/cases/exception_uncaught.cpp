// C++ exceptions that nobody catches, and other ways into std::terminate: what libstdc++ says about them.
//@ link: -lstdc++ -lpthread
//@ run: std::runtime_error
//@ args: runtime
//@ run: int
//@ args: int
//@ run: a pointer
//@ args: pointer
//@ run: a pointer to an exception
//@ args: exception-pointer
//@ run: a class of its own
//@ args: own
//@ run: derived
//@ args: derived
//@ run: the second base
//@ args: second
//@ run: a virtual base
//@ args: virtual
//@ run: a private base
//@ args: private
//@ run: an ambiguous base
//@ args: ambiguous
//@ run: noexcept
//@ args: noexcept
//@ run: std::terminate
//@ args: terminate
//@ run: std::terminate in a handler
//@ args: handler
//@ run: out of a destructor
//@ args: destructor
//@ run: nothing to throw again
//@ args: again
//@ run: std::rethrow_exception
//@ args: exception_ptr
//@ run: thrown by the library
//@ args: library
//@ run: one version does not throw
//@ args: one
//@ expect: both
//@ run: in a thread
//@ args: runtime thread
//@ run: one version does not throw, in a thread
//@ args: one thread
//@ expect: both
//@ run: a handler for SIGABRT
//@ args: signal
//@ run: caught
//@ args: caught
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

struct Own {
  int value;
};
struct Derived : std::exception {
  const char *what() const noexcept override { return "derived"; }
};
struct First {
  int value = 1;
  virtual ~First() {}
};
struct Second : First, std::runtime_error {
  Second() : std::runtime_error("second base") {}
};
struct Virtual : First, virtual std::exception {
  const char *what() const noexcept override { return "virtual base"; }
};
struct Private : private std::exception {};
struct Left : std::exception {};
struct Right : std::exception {};
struct Ambiguous : Left, Right {};

struct Loud {
  ~Loud() noexcept(false) { throw 3; }
};
struct Quiet {
  ~Quiet() { puts("destroyed"); }
};

static void violates() noexcept {
  Quiet quiet;
  throw std::runtime_error("out of noexcept");
}

static void on_abort(int) {
  puts("SIGABRT");
  _exit(8);
}

static void act(const std::string &what) {
  if (what == "runtime")
    throw std::runtime_error("bad");
  if (what == "int")
    throw 42;
  if (what == "pointer")
    throw "text";
  if (what == "exception-pointer")
    throw static_cast<std::exception *>(new Derived);
  if (what == "own")
    throw Own();
  if (what == "derived")
    throw Derived();
  if (what == "second")
    throw Second();
  if (what == "virtual")
    throw Virtual();
  if (what == "private")
    throw Private();
  if (what == "ambiguous")
    throw Ambiguous();
  if (what == "noexcept")
    violates();
  if (what == "terminate")
    std::terminate();
  if (what == "handler")
    try {
      throw std::logic_error("in a handler");
    } catch (...) {
      std::terminate();
    }
  if (what == "destructor")
    try {
      Loud loud;
      throw std::logic_error("first");
    } catch (...) {
      puts("never caught");
    }
  if (what == "again")
    throw;
  if (what == "exception_ptr") {
    std::exception_ptr kept;
    try {
      throw Second();
    } catch (...) {
      kept = std::current_exception();
    }
    std::rethrow_exception(kept);
  }
  if (what == "library")
    std::vector<int>().at(3);
  if (what == "one" && V == 2)
    throw std::runtime_error("only in version 2");
  if (what == "signal") {
    signal(SIGABRT, on_abort);
    throw std::runtime_error("bad");
  }
}

static void *run(void *what) {
  Quiet quiet;
  act(static_cast<char *>(what));
  return nullptr;
}

int main(int argc, char **argv) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  puts("begins");
  if (argc > 2) {
    pthread_t thread;
    pthread_create(&thread, nullptr, run, argv[1]);
    pthread_join(thread, nullptr);
  } else if (std::string(argv[1]) == "caught") {
    try {
      act("runtime");
    } catch (std::exception &exception) {
      puts(exception.what());
    }
  } else {
    run(argv[1]);
  }
  puts("ends");
}
