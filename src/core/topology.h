// Virtual topologies (MPI-5.0 chapter 8), as layers see them that know nothing of graphs and grids: the
// neighbours of a rank. The kinds of topology are in src/topo.
#pragma once

#include <utility>
#include <vector>

#include "base/ref.h"

namespace clump::core {

/// A rank of the communicator, and the block of the caller that a neighbourhood collective exchanges with it.
struct Neighbour {
  int rank;
  int block;
};

/// The neighbours that messages come from, or go to (MPI-5.0 section 8.6).
struct Neighbours {
  int blocks =
      0;  ///< in a user's buffer; those of neighbours that are MPI_PROC_NULL stand there, and nowhere else
  /// All neighbours but MPI_PROC_NULL. A rank may occur more than once, and may be the caller: the k-th
  /// message to a rank is the k-th that this rank expects from the caller, each in the order of its list.
  std::vector<Neighbour> in_order;
};

/// The topology of a communicator, as one of its ranks sees it. Immutable; duplicates of the communicator
/// share it.
class Topology : public base::RefCounted {
 public:
  /// The value that MPI_Topo_test returns.
  virtual int kind() const = 0;

  const Neighbours& sources() const { return sources_; }
  const Neighbours& destinations() const { return destinations_; }

 protected:
  Topology(Neighbours sources, Neighbours destinations)
      : sources_(std::move(sources)), destinations_(std::move(destinations)) {}

 private:
  const Neighbours sources_, destinations_;
};

}  // namespace clump::core
