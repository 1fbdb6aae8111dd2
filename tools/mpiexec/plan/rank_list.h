// Numbers of ranks, as short as can be.
#pragma once

#include <string>
#include <vector>

#include "pmi/job.h"

namespace clump::mpiexec {

/// "0-3", "7", "0,4,...,60", "0-3,9", of ranks in rising order; "none". Only the first few parts of a long
/// list, then "...".
std::string rank_list(const std::vector<int>& ranks);
/// "4 hosts: h0 (ranks 0-3), ...".
std::string host_list(const pmi::Job& job);

}  // namespace clump::mpiexec
