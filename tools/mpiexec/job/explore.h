// mpiexec --explore: the same job with one seed after the other, until one fails.
#pragma once

#include "command/options.h"
#include "plan/plan.h"

namespace clump::mpiexec {

/// Returns mpiexec's exit code: that of the first seed, in their order, which fails; 0 if none does. Several
/// run at a time, each on a core.
int explore(const Command& command, const Plan& plan);

/// What repeats the run with `seed`, for a shell.
std::string command_to_repeat(const Command& command, std::int64_t seed);

}  // namespace clump::mpiexec
