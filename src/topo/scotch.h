// Scotch (https://www.labri.fr/perso/pelegrin/scotch), loaded when a graph is first placed: a job that places
// none does without.
#pragma once

#include <span>

#include "base/status.h"
#include "topo/links.h"

namespace clump::topo {

/// Divides the places among parts with about these sizes, each 1 or more, so that few links go from part to
/// part. Fails, with MPI_ERR_OTHER, where there is no Scotch. Any thread.
base::Status partition_by_scotch(const Links& links, std::span<const int> sizes, std::span<int> part_of);

}  // namespace clump::topo
