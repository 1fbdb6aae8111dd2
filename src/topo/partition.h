// Graphs on hosts and workers: as few links as can be found go from host to host, and then from worker to
// worker of a host.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "topo/links.h"

namespace clump::topo {

/// Places change their parts so that fewer links go from part to part. Parts keep their sizes; it stays as it
/// is if nothing better is found. Fails where there is no Scotch.
base::Status partition(const Links& links, std::span<int> part_of);

/// Which rank is to have each place. `hosts` and `workers` say where each rank is; workers of different hosts
/// are different ones. `ranks` stays empty if every rank keeps the place of its number, because nothing
/// better is found. Fails where there is no Scotch.
base::Status place_on_hosts(const Links& links, std::span<const int> hosts, std::span<const int> workers,
                            std::vector<int>& ranks);

}  // namespace clump::topo
