// Images: private copies of the user's program and of its libraries, one per rank of a process.
//
// ld.so loads the program once. Before any constructor runs, capture() takes a snapshot of the writable data
// of the program and of every private library, and notes which words of it hold addresses. create() makes a
// copy for a rank: the code is mapped from the same files; the data is the snapshot, and each address that
// points into a private object is changed to the rank's own copy of that object. The first rank, called
// native, runs on the originals. docs/images.md explains this, and its limits.
//
// A rank's state in the C library (exit handlers, environment, getopt, rand, strtok, ...) is private, too:
// see src/process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "fiber/identity.h"

namespace clump::image {

/// Takes the snapshot. Once, from the constructor of libclump_host.so (linked with -z initfirst), with the
/// arguments that ld.so gives to constructors; no start-up code of the C library (which sets environ, for
/// one) has run by then. The calling thread becomes a thread of `native`, whose image are the originals.
/// Without capture() there is one image: the process's own.
base::Status capture(fiber::Identity& native, int argc, char** argv, char** envp);

/// Loads one more program of an MPMD job, by path, and sets its number. The main program has the number 0;
/// the same file has the same number each time. MPI_ERR_SPAWN if it cannot be loaded beside the main program.
/// After capture(); ranks may run, and make images.
base::Status load_program(const std::string& path, int* program);

/// Makes the image of `rank`. Any thread, several at a time; runs nothing of the program. MPI_ERR_SPAWN with
/// the limit's name if the system has no more memory or mappings.
base::Status create(fiber::Identity& rank, int program = 0);

/// Makes the calling thread a thread of `rank`: its identity, and its thread-local variables that hold
/// addresses. Threads that a rank makes with pthread_create do this by themselves.
void adopt_thread(fiber::Identity& rank);

/// Runs the constructors of the rank's libraries and program, dependencies first, on the calling thread,
/// which belongs to the rank.
void run_constructors(fiber::Identity& rank, int argc, char** argv);

/// The address in the rank's copy that corresponds to an address in the originals; the address itself if it
/// belongs to nothing private. For example for the `main` that is given to __libc_start_main.
void* translate(fiber::Identity& rank, const void* original);

using Main = int (*)(int, char**, char**);
/// The `main` of the rank, if its program is the main program; null otherwise. `original` is the main
/// program's, as given to __libc_start_main.
Main main_of(fiber::Identity& rank, Main original);
/// The value of the rank's `environ`.
char** environment_of(fiber::Identity& rank);

/// Whether a loaded object has code on stacks: nested functions of GNU C, or internal procedures of Fortran
/// as arguments. The C library makes only those stacks executable that it has made itself.
bool wants_executable_stacks();
/// A function that is called when a rank has opened a library, if there is such an object by then.
using StackHook = void (*)();
void on_executable_stacks(StackHook hook);

/// What dlsym(RTLD_DEFAULT) finds for the code of the calling thread's rank; null: nothing.
void* symbol_of_rank(const char* name);

/// The place of an address. Usable in a signal handler.
struct Location {
  const char* object = nullptr;  ///< path of the program or library; null if the address belongs to none
  std::uint64_t address = 0;     ///< relative to the load address: as in the file
  const fiber::Identity* rank = nullptr;  ///< the rank whose copy it is; null for shared objects
};
Location locate(const void* address);

/// How many mappings and how many bytes of data one more image takes.
struct Cost {
  int mappings = 0;
  std::size_t private_bytes = 0;  ///< written when an image is made
  std::size_t address_space = 0;
};
Cost cost_per_image(int program = 0);

/// The paths of the private objects, in load order; for `clump explain` and diagnostics.
std::vector<std::string_view> private_objects();

}  // namespace clump::image
