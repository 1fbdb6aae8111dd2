// A launch: ranks that were started together, which have an MPI_COMM_WORLD in common.
#pragma once

#include <cstddef>
#include <vector>

#include "core/info.h"

namespace clump::core {

/// The ranks of mpiexec's command line (number 0), or those of one call of MPI_Comm_spawn. Ranks of all
/// launches of a job have numbers in one sequence: those of a launch follow each other. Not changed once its
/// ranks run.
struct Launch {
  int number = 0;
  int first = 0;                   ///< the number in the job of its rank 0
  int size = 0;                    ///< of its MPI_COMM_WORLD
  int universe = 0;                ///< MPI_UNIVERSE_SIZE: mpiexec's, or `size` if that is larger
  std::vector<int> app_numbers;    ///< MPI_APPNUM of each rank
  std::vector<Info> environments;  ///< MPI_INFO_ENV of each app

  /// `rank`: a number in the job.
  int& app_of(int rank) { return app_numbers[static_cast<std::size_t>(rank - first)]; }
};

}  // namespace clump::core
