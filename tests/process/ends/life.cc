// Before main() and after it ranks wait for each other: in constructors, destructors and exit handlers of the
// program, of its library, and of a plugin that a constructor opens. Each finds its rank's own thread-local
// variables. A child runs the destructors of its rank, too.
// life plugin.so: all of it; life plugin.so early: the constructor of the program ends the rank.
// For: coarrays that are static, C++ objects that own MPI, pybind11's objects.
#include "life.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

int began_before = 0;
void before_all(int, char**, char**) { ++began_before; }
[[gnu::used, gnu::section(".preinit_array")]] void (*const first)(int, char**, char**) = before_all;

struct Object {
  Object() { life_check("constructor of the program's object"); }
  ~Object() { life_check("destructor of the program's object"); }
} object;

[[gnu::constructor]] void constructor(int argc, char** argv, char**) {
  if (dlopen(argv[1], RTLD_NOW) == nullptr) std::printf("%s\n", dlerror()), std::abort();
  life_check("constructor of the program");
  if (argc > 2) std::exit(0);
}
[[gnu::destructor]] void destructor() { life_check("destructor of the program"); }

/// How many of the functions above and in the library a child of the rank runs when it ends.
int run_by_child() {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    life_tell_parent(ends[1]);
    std::exit(0);
  }
  close(ends[1]);
  int status = -1, count = 0;
  for (char byte = 0; read(ends[0], &byte, 1) == 1;) ++count;
  waitpid(child, &status, 0);
  return status == 0 ? count : -1;
}

}  // namespace

int main() {
  life_check("main()");
  constexpr int kAll = 7;  // three objects, two destructors, the library's exit handler and its last function
  const int run = run_by_child();
  if (run != kAll) std::printf("a child has run %d of %d\n", run, kAll), std::abort();
  if (began_before != 1) std::printf("preinit functions have run %d times\n", began_before), std::abort();
}
