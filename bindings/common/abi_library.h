// The functions of the MPI library behind this one, which has the standard's ABI. Both define the same names,
// so these are not bound by ld.so: the first call of each looks its function up.
#pragma once

#include "mpi.h"

namespace clump::facade::abi {

/// Rows of `names` in abi_library.cc; in copies of this library, one for each rank, each has its own.
extern void* functions[] __attribute__((visibility("hidden")));

/// Looks a function up and notes it. Ends the process if there is no such library.
[[gnu::cold]] __attribute__((visibility("hidden"))) void* resolve(int number);

[[gnu::always_inline]] inline void* function(int number) {
  void* const known = __atomic_load_n(&functions[number], __ATOMIC_RELAXED);  // any thread finds the same
  return known != nullptr ? known : resolve(number);
}

#include "abi_functions.inc"

/// What the MPI library tells of the error codes that MPI_Comm_spawn and MPI_Comm_spawn_multiple have
/// written. As in src/host/host.h.
struct SpawnCodes {
  const int* codes;  ///< the array that was passed on
  int count;         ///< so many codes were written; 0: none
  bool are_there;    ///< in that array; false: in one of a tool, which copies them after the call
};
/// The calling thread's; null if the library does not tell. Only Clump's does.
[[gnu::cold]] __attribute__((visibility("hidden"))) SpawnCodes* spawn_codes();

}  // namespace clump::facade::abi
