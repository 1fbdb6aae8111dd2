// Neighbourhood collectives (MPI-5.0 section 8.6): every block goes straight to the neighbour that it is for.
#include "coll/coll.h"

namespace clump::coll {

namespace {

/// Messages between two ranks match in the order in which both list each other; so do the blocks that a rank
/// sends to itself. All receives are there before anything is sent.
template <typename BlockFor>
void exchange(Schedule& s, const core::Topology& topology, BlockFor out, const Blocks& in) {
  const auto& sources = topology.sources().in_order;
  const auto& destinations = topology.destinations().in_order;
  for (const core::Neighbour& from : sources)
    if (from.rank != s.rank()) s.receive(in[from.block], from.rank);
  for (const core::Neighbour& to : destinations)
    if (to.rank != s.rank()) s.send(out(to.block), to.rank);

  auto from = sources.begin();
  for (const core::Neighbour& to : destinations) {
    if (to.rank != s.rank()) continue;
    while (from->rank != s.rank()) ++from;
    s.copy(in[(from++)->block], out(to.block));
  }
}

}  // namespace

void neighbour_allgather(Schedule& s, const core::Topology& topology, const Layout& mine, const Blocks& all) {
  exchange(
      s, topology, [&](int) { return mine; }, all);
}

void neighbour_alltoall(Schedule& s, const core::Topology& topology, const Blocks& out, const Blocks& in) {
  exchange(
      s, topology, [&](int block) { return out[block]; }, in);
}

}  // namespace clump::coll
