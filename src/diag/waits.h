// What all ranks wait for, in words: what mpiexec prints about a deadlock, and where a user asks.
#pragma once

#include <set>
#include <string>

#include "diag/scene.h"

namespace clump::diag {

/// The scene of an account: reads the files of its frames.
Scene scene_of(pmi::Account account, int ranks);

/// A line for each group of ranks that wait for the same, each with what is known about why it does not come,
/// and the cycle, if there is one. `is_final`: it never will; otherwise it has not by now, and as the
/// processes were not asked at one moment, a cycle is only told of `settled` ranks.
std::string waits_text(const Scene& scene, bool is_final, const std::set<int>& settled = {});

/// The ranks that have waited for the same from one account to the next, as everybody was asked for the
/// second after all had given the first.
std::set<int> settled_ranks(const pmi::Account& first, const pmi::Account& second);

}  // namespace clump::diag
