// Which ranks have the places of a graph, and what `mpiexec --map` says of the placement of a topology.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/comm.h"
#include "topo/links.h"

namespace clump::mpi {

/// Brings the links of a graph to rank 0 of the communicator. Collective.
using CollectLinks = std::function<base::Status(std::vector<topo::Link>&)>;

/// Decides at rank 0 of `comm`, and tells all: `ranks` are those of `comm` that are to have the places, empty
/// if these are its first ranks in order. `why_not` is set at rank 0 where nobody can decide. Collective.
base::Status place_graph(core::Comm& comm, int places, const CollectLinks& collect, std::vector<int>& ranks,
                         std::string& why_not);

/// A rank of the job that the caller sends to, and how much.
struct Reach {
  int rank;
  std::int64_t weight = 1;
};

/// A topology that has been placed, as one of its ranks tells of it.
struct Placed {
  std::string what;            ///< "grid 7 x 8"
  const char* links;           ///< what it has
  int ends = 1;                ///< at so many of its ends each of these is told of
  std::vector<Reach> without;  ///< whom the caller would reach if nobody had been reordered
  std::vector<Reach> reached;
  std::string why_not = {};  ///< why nobody was, where somebody knows
};

/// Whether the user asks for it.
bool is_told(const core::Comm& comm);
/// Prints what of it crosses hosts and workers. Collective over the new communicator.
base::Status tell(core::Comm& made, const core::Comm& comm_old, const Placed& placed);

}  // namespace clump::mpi
