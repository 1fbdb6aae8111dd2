// What one program of MPI_Comm_spawn asks for, and the command that it becomes (MPI-5.0 section 11.8.2).
#pragma once

#include "base/status.h"
#include "core/rank.h"
#include "mpi/process.h"

namespace clump::mpi {

/// One program as the root of the call asks for it.
struct Asked {
  const char* command = nullptr;
  char** argv = nullptr;  ///< null: no arguments
  int maxprocs = 0;
  MPI_Info info = MPI_INFO_NULL;
  int number = -1;  ///< of MPI_Comm_spawn_multiple
};

/// Finds the program, its number of ranks, its folder and its environment; `made` has the environment of the
/// caller. `room`: how many ranks can still be started; what is taken is subtracted. Fails with the argument,
/// or the info key, that asks for what is not there.
base::Status prepare_command(const core::Rank& self, const Asked& asked, int& room, Command& made);

/// The first host other than this one that a command names; empty: it names none.
std::string first_host_elsewhere(const Command& command);

}  // namespace clump::mpi
