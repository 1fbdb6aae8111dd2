// Where the ranks of a communicator with a topology come from: the one place that decides on reordering
// (MPI-5.0 section 8.5.1, `reorder`; docs/decisions/016-placement.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/comm.h"
#include "topo/grid.h"

namespace clump::topo {

/// Where the first ranks of a communicator are, as far as all of them know it alike.
struct Sites {
  /// The host of each rank; on one host its worker. Numbered in the order of their first ranks.
  std::vector<int> of;
  int count = 0;
  bool are_hosts = false;

  Sites(const core::Comm& comm, int ranks);
  /// Whether it matters who is where.
  bool matter() const { return count > 1 && count < static_cast<int>(of.size()); }
};

/// The group of a new communicator for a grid, of ranks of `comm`, an intracommunicator that has as many or
/// more. Every rank calls it with the same arguments and gets the same group; no communication.
///
/// With `reorder` the ranks are numbered so that few links of the grid go from host to host; on one host,
/// from worker to worker.
base::Ref<const core::Group> place(const core::Comm& comm, const Grid& grid, bool reorder);

}  // namespace clump::topo
