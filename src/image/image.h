// Images: private copies of the user's program and of its libraries, one per rank of a process.
//
// ld.so loads the program once. Before any constructor runs, capture() takes a snapshot of the writable data
// of the program and of every private library, and notes which words of it hold addresses. create() makes a
// copy for a rank: the code is mapped from the same files; the data is the snapshot, and each address that
// points into a private object is changed to the rank's own copy of that object. The first rank, called
// native, runs on the originals. docs/images.md explains this, and its limits.
//
// A rank's state in the C library (exit handlers, environment, getopt, rand, strtok, ...) is private, too: see
// src/process.
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

/// From now on the rank's stdout or stderr (`descriptor` is 1 or 2) goes to the end of a file. `only`: it no
/// longer goes to where it went before. MPI_ERR_BAD_FILE with the system's text.
base::Status send_output_to(fiber::Identity& rank, int descriptor, const std::string& path, bool only);

/// Makes this descriptor, which the rank does not own, the rank's standard input; -1: an empty one. Before
/// its constructors run.
void read_input_from(fiber::Identity& rank, int descriptor);

/// Sets the arguments and the environment of the calling rank, which is not the native one. The rank gets
/// copies in one piece, as the kernel makes them for a process, because programs write their title over them.
/// Returns argv. By the thread that will run the rank, before run_constructors().
char** set_environment(fiber::Identity& rank, const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment);

/// Makes the calling thread a thread of `rank`: its identity, and its thread-local variables that hold
/// addresses. Threads that a rank makes with pthread_create do this by themselves.
void adopt_thread(fiber::Identity& rank);

/// Sets how many cores the rank is told to have, which is the number of threads that its libraries should
/// start. Before its constructors run.
void set_core_count(fiber::Identity& rank, int cores);
/// The same for the rank's OpenMP, unless the user has set the number of threads. For ranks whose share of
/// the cores is not their affinity, which OpenMP uses. By the rank's main thread, before its main().
void tell_openmp_core_count(fiber::Identity& rank);
/// The result of omp_in_parallel() in the calling thread's rank; 0 if the rank has no OpenMP. Not called by
/// threads that are opening libraries.
int is_in_parallel_region();

/// Runs the destructors of the calling thread's thread-local objects that belong to private objects' code.
void destruct_thread_locals();

/// Called when a thread of the rank has ended and the rank goes on. If no other thread of the rank is left,
/// the rank exits as by exit(0), and this does not return.
void thread_of_rank_ends(fiber::Identity& rank);

/// Runs the constructors of the rank's libraries and program, dependencies first, on the calling thread,
/// which belongs to the rank. Does nothing for the native rank, because ld.so does it.
void run_constructors(fiber::Identity& rank, int argc, char** argv);

/// To be called before the rank's main(): exit handlers that libraries register from here on run before
/// their destructors, in the order of all handlers.
void note_main_begins(const fiber::Identity& rank);

/// The address in the rank's copy that corresponds to an address in the originals; the address itself if it
/// belongs to nothing private. For example for the `main` that is given to __libc_start_main.
void* translate(fiber::Identity& rank, const void* original);

using Main = int (*)(int, char**, char**);
/// The `main` of the rank, if its program is the main program; null otherwise. `original` is the main
/// program's, as given to __libc_start_main.
Main main_of(fiber::Identity& rank, Main original);
/// Begins a program other than the main program at its entry point, on the stack of the calling thread, which
/// belongs to the rank and has run the constructors. The code there calls __libc_start_main with the rank's
/// `main`.
[[noreturn]] void enter(fiber::Identity& rank);
/// The value of the rank's `environ`.
char** environment_of(fiber::Identity& rank);

/// How a rank has left.
enum class ExitKind : std::uint8_t {
  kExit,       ///< exit(), or return from main: exit handlers and destructors have run
  kQuickExit,  ///< quick_exit(): its handlers have run
  kImmediate,  ///< _exit(), _Exit()
};

/// Decides what the end of a rank means for the process; set by the runtime. Called on the thread that has
/// left, with its output flushed. Must not return, except after kExit in a process without images, which the
/// C library ends.
using ExitHook = void (*)(fiber::Identity* rank, int code, ExitKind kind);
void set_exit_hook(ExitHook hook);
/// Makes the C library call the exit hook when its last exit handler and the last destructor have run,
/// whatever function of its own ends the process. Once, in a process without images, by the first
/// constructor.
void see_exit_of_process();

/// Ends the process as the C library's exit does: destructors of the originals and of shared libraries run.
/// All ranks have left.
[[noreturn]] void end_process(int code);
/// Ends the process as the C library's _exit does, without any hook.
[[noreturn]] void exit_process(int code);

/// Whether a loaded object has code on stacks: nested functions of GNU C, or internal procedures of Fortran
/// as arguments. The C library makes only those stacks executable that it has made itself.
bool wants_executable_stacks();
/// A function that is called when a rank has opened a library, if there is such an object by then.
using StackHook = void (*)();
void on_executable_stacks(StackHook hook);

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
