// Neighbourhood collectives (MPI-5.0 section 8.6) by messages: every block goes straight to the neighbour
// that it is for.

#include "coll/algorithms/algorithms.h"

namespace clump::coll {

// Messages between two ranks match in the order in which both list each other; so do the blocks that a rank
// sends to itself. All receives are there before anything is sent.
void exchange_with_neighbours(Schedule& s, const core::Topology& topology, const Blocks& out,
                              const Blocks& in) {
  const auto& sources = topology.sources().in_order;
  const auto& destinations = topology.destinations().in_order;
  for (const core::Neighbour& from : sources)
    if (from.rank != s.rank()) s.receive(in[from.block], from.rank);
  for (const core::Neighbour& to : destinations)
    if (to.rank != s.rank()) s.send(out[to.block], to.rank);

  auto from = sources.begin();
  for (const core::Neighbour& to : destinations) {
    if (to.rank != s.rank()) continue;
    while (from->rank != s.rank()) ++from;
    s.copy(in[(from++)->block], out[to.block]);
  }
}

}  // namespace clump::coll
