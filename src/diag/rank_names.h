// How reports name ranks. In mpiexec.
#pragma once

#include <string>

#include "pmi/control.h"
#include "pmi/waits.h"

namespace clump::diag {

/// From now on ranks of this launch (MPI_Comm_spawn) have names. By one thread.
void name_launch(const pmi::LaunchNote& launch);
/// From now on this number is that of a rank of another job. By the same thread.
void name_other(const pmi::OtherRank& other);
/// Null: it is the number of a rank of this job.
const pmi::OtherRank* find_other(int number);
/// The name of a rank with this number in the job: "3", "1:3" for rank 3 of launch 1, or "3 of another job".
std::string rank_name(int number);
/// The same with the size of its MPI_COMM_WORLD: "rank 3 of 16", "rank 1:3 of 4"; `ranks`: of mpiexec's own.
std::string rank_of(int number, int ranks);
/// The number after the last one that a rank has had; `ranks`: of mpiexec's own.
int end_of_ranks(int ranks);
/// The launch of a rank; 0: mpiexec's own.
int launch_of(int number);

}  // namespace clump::diag
