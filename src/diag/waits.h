// What all ranks wait for, in words: what mpiexec prints about a deadlock, and where a user asks.
#pragma once

#include <string>

#include "diag/scene.h"

namespace clump::diag {

/// The scene of an account: reads the files of its frames.
Scene scene_of(pmi::Account account, int ranks);

/// A line for each group of ranks that wait for the same, each with what is known about why it does not come,
/// and the cycle, if there is one. `is_final`: it never will; otherwise it has not by now, and as the
/// processes were not asked at one moment, cycles are not told.
std::string waits_text(const Scene& scene, bool is_final);

}  // namespace clump::diag
