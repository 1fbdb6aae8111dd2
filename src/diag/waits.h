// What all ranks wait for, in words: mpiexec prints it about a deadlock, and when a user asks for it.
#pragma once

#include <set>
#include <string>

#include "diag/scene.h"

namespace clump::diag {

/// Makes the scene of an account: reads the files of its frames.
Scene scene_of(pmi::Account account, int ranks);

/// A line for each group of ranks that wait for the same, each with what is known about why it does not come,
/// and the cycle, if there is one. `is_final`: it never comes; otherwise it has not come yet, and because the
/// processes were not asked at the same moment, a cycle is printed only if all its ranks are in `settled`.
std::string waits_text(const Scene& scene, bool is_final, const std::set<int>& settled = {});

/// The ranks that have waited for the same from the first account to the second. All processes had given the
/// first before any was asked for the second.
std::set<int> settled_ranks(const pmi::Account& first, const pmi::Account& second);

}  // namespace clump::diag
