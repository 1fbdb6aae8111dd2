// Another of several programs in a job: iostreams, static objects, exceptions, thread-local variables if it
// is built WITH_THREAD_LOCAL.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include "rank.h"

int counter = 1000;

extern "C" const char* name_of_program() { return "C++"; }

namespace {

struct Object {
  std::string text = "constructed";
  ~Object() { std::cout << "destructed " << counter - 1000 << std::endl; }
} object;

#ifdef WITH_THREAD_LOCAL
thread_local int initialised = 7;
thread_local int* pointer = &counter;
thread_local std::string constructed = "text";

std::string thread_locals(int rank) {
  initialised += rank;
  return std::to_string(initialised - rank) + (pointer == &counter ? " own " : " another's ") + constructed;
}
#endif

std::string caught() {
  try {
    throw std::runtime_error("caught");
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

int main(int, char** argv, char** environment) {
  const int rank = begin_rank();
  counter += rank;
  int sum = 0;
  MPI_Allreduce(&counter, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const char* (*asked)() = nullptr;
  if (void* plugin = dlopen(argv[1], RTLD_NOW))
    asked = reinterpret_cast<const char* (*)()>(dlsym(plugin, "ask"));
  std::cout << sum << ' ' << argv[2] << ' ' << getenv("PART") << ' '
            << (environ == environment ? "own" : "another's") << ' '
            << (asked != nullptr ? asked() : dlerror()) << ' '
            << (dlsym(RTLD_DEFAULT, "name_of_program") == reinterpret_cast<void*>(&name_of_program)
                    ? "found"
                    : "not found")
            << std::endl;
  std::fprintf(stdout, "%s %s\n", object.text.c_str(), caught().c_str());  // each program has a `stdout`
#ifdef WITH_THREAD_LOCAL
  std::string in_thread;
  std::thread([&] { in_thread = thread_locals(rank); }).join();
  std::cout << in_thread << ", " << thread_locals(rank) << std::endl;
#endif
  MPI_Finalize();
  return 0;
}
