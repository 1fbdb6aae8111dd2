// A C++ program that knows nothing of Clump: iostreams, static constructors, thread_local, exceptions,
// std::thread, a global in its own shared library, a plugin opened with dlopen. Argument 1: the plugin.
#include "tour.h"

#include <dlfcn.h>
#include <mpi.h>

#include <iomanip>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <thread>

namespace {

int failures = 0;
int rank = -1;

void expect(bool condition, const char* what, int line) {
  if (condition) return;
  ++failures;
  std::cerr << "rank " + std::to_string(rank) + ", line " + std::to_string(line) + ": not so: " + what + "\n";
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

tour::Registry program_registry("program");
std::map<std::string, int> ages{{"Ada", 36}, {"Grace", 85}};  // built before main, changed by each rank
const std::string greeting = "hello, a string too long to live inside its object";

struct PerThread {
  int value = 5;
  std::string text = "fresh";
};
thread_local PerThread per_thread;

int function_static() {
  static tour::Registry made_on_first_call("function");
  made_on_first_call.add("rank");
  return static_cast<int>(made_on_first_call.entries().size());
}

void statics() {
  EXPECT(tour::library_count >= 2);  // the library's registry and the program's
  ages["Ada"] += rank;
  program_registry.add("rank " + std::to_string(rank));
  per_thread.value += rank;
  per_thread.text = std::to_string(rank);
  std::cout << std::setprecision(3 + rank % 10) << std::setfill(static_cast<char>('a' + rank % 26));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(ages.at("Ada") == 36 + rank && ages.at("Grace") == 85);
  EXPECT(program_registry.entries().size() == 1 &&
         program_registry.entries().front() == "rank " + std::to_string(rank));
  EXPECT(per_thread.value == 5 + rank && per_thread.text == std::to_string(rank));
  EXPECT(std::cout.precision() == 3 + rank % 10 && std::cout.fill() == static_cast<char>('a' + rank % 26));
  EXPECT(greeting.size() == 50 && greeting.substr(0, 5) == "hello");
  EXPECT(function_static() == 1);
}

void exceptions() {
  try {
    tour::throw_from_library(rank);
    EXPECT(!"thrown");
  } catch (const tour::Surprise& surprise) {
    EXPECT(surprise.rank == rank && std::string(surprise.what()) == "from the library");
  }
  try {
    static_cast<void>(std::map<int, int>{}.at(rank));
    EXPECT(!"thrown");
  } catch (const std::out_of_range&) {
  }
}

void threads() {
  int seen_age = 0, seen_value = 0;
  bool caught = false;
  std::thread([&] {
    seen_age = ages.at("Ada");
    seen_value = per_thread.value;
    per_thread.value = -1;
    try {
      tour::throw_from_library(rank);
    } catch (const std::runtime_error&) {
      caught = true;
    }
  }).join();
  EXPECT(seen_age == 36 + rank && seen_value == 5 && caught);
  EXPECT(per_thread.value == 5 + rank);
}

template <typename Function>
Function* symbol(void* handle, const char* name) {
  Function* function = reinterpret_cast<Function*>(dlsym(handle, name));
  if (function == nullptr) throw std::runtime_error(std::string("no symbol ") + name);
  return function;
}

void plugin(const char* path) {
  const int constructed = tour::library_count;
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  EXPECT(tour::library_count == constructed + 1);  // its static object, counted in this rank's library
  auto* call = symbol<int(int)>(handle, "plugin_call");
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(call(rank) == 1);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(symbol<int()>(handle, "plugin_entries")() == 1);
  EXPECT(symbol<int()>(handle, "plugin_calls_of_thread")() == 101);
  EXPECT(tour::library_registry.entries().size() == 1);
  EXPECT(tour::library_registry.entries().front() == "plugin of rank " + std::to_string(rank));
  try {
    symbol<void(int)>(handle, "plugin_throw")(rank);
    EXPECT(!"thrown");
  } catch (const tour::Surprise& surprise) {
    EXPECT(surprise.rank == rank);
  }
  EXPECT(dlclose(handle) == 0);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try {
    statics();
    exceptions();
    threads();
    plugin(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "rank " << rank << ": " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  int all_failures = 0;
  MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::cout << size << " ranks, " << all_failures << " failures" << std::endl;
  MPI_Finalize();
  return all_failures != 0;
}
