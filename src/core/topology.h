// Virtual topologies (MPI-5.0 chapter 8), as far as layers that know nothing of graphs and grids use them:
// whom a rank has as neighbours. The kinds are in src/topo.
#pragma once

#include <utility>
#include <vector>

#include "base/ref.h"

namespace clump::core {

/// A rank of the communicator, and which of the caller's blocks a neighbourhood collective exchanges with it.
struct Neighbour {
  int rank;
  int block;
};

/// Where messages come from, or where they go to (MPI-5.0 section 8.6).
struct Neighbours {
  int blocks =
      0;  ///< in a user's buffer; those of neighbours that are MPI_PROC_NULL stand there, and nowhere else
  /// All but MPI_PROC_NULL. A rank may be there more than once, and be the caller: the k-th message to a rank
  /// is the k-th that this one expects from the caller, each in the order of its list.
  std::vector<Neighbour> in_order;
};

/// The topology of a communicator, as one of its ranks sees it. Immutable, and shared with duplicates of the
/// communicator.
class Topology : public base::RefCounted {
 public:
  /// What MPI_Topo_test says.
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
