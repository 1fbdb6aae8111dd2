// What ranks run on, as programs and layers below see it: homes of ranks, and resources by the names of
// hwloc.
#pragma once

#include <vector>

#include "core/rank.h"
#include "pmi/job.h"

namespace clump {

/// The home, and the host, of numbers that no rank of this job has.
inline constexpr int kElsewhere = -1000000;

/// The home of a rank: ranks with the same home take turns on one core. Ranks of another node share no home
/// with ranks of this one. Where ranks are kernel threads, no rank keeps to a core: if there is a core for
/// each, each has a home of its own; if not, the node's ranks share one.
int home_of(const pmi::Job& job, int rank);

/// The hardware resources that the ranks run on, named as hwloc names them; mpiexec has read them from hwloc.
/// Only workers keep to a core.
std::vector<core::World::Resource> resources_of(const pmi::Job& job);

}  // namespace clump
