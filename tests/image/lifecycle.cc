// The order of a rank's life: libraries before the program, exit handlers backwards, destructors last.
// lifecycle return|exit|quick_exit|_exit
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "rank.h"

int library_number();

namespace {

struct Announced {
  explicit Announced(const char* name) : name(name) { std::cout << name << " constructed\n"; }
  ~Announced() { std::cout << name << " destructed\n"; }
  const char* name;
};

Announced object("program object");
thread_local Announced per_thread("thread object");

[[gnu::destructor]] void destructor() { std::printf("program destructor\n"); }

void first_handler() { std::printf("first handler\n"); }
void second_handler() {
  std::printf("second handler\n");
  std::atexit([] { std::printf("handler of a handler\n"); });
}
void quick_handler() { std::printf("quick handler\n"); }

}  // namespace

int main(int argc, char** argv) {
  const int rank = begin_rank();
  static Announced local("local object");
  std::atexit(first_handler);
  std::atexit(second_handler);
  std::at_quick_exit(quick_handler);
  std::printf("rank %d with %d arguments, %s %d\n", rank, argc, per_thread.name, library_number());
  MPI_Finalize();
  const char* how = argc > 1 ? argv[1] : "return";
  if (std::strcmp(how, "exit") == 0) std::exit(0);
  if (std::strcmp(how, "quick_exit") == 0) std::quick_exit(0);
  if (std::strcmp(how, "_exit") == 0) _exit(0);
  return 0;
}
