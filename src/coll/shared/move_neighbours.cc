// Neighbourhood collectives (MPI-5.0 section 8.6): blocks are fetched where the neighbours have them.
#include <algorithm>

#include "coll/shared/shared_state.h"

namespace clump::coll {

namespace {

std::vector<core::Neighbour> by_rank(const core::Neighbours& neighbours) {
  std::vector<core::Neighbour> sorted = neighbours.in_order;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const core::Neighbour& a, const core::Neighbour& b) { return a.rank < b.rank; });
  return sorted;
}

}  // namespace

SharedCollective::Neighbourhood::Neighbourhood(const core::Topology& topology)
    : blocks(topology.sources().blocks),
      destinations(by_rank(topology.destinations())),
      sources(by_rank(topology.sources())) {}

// The k-th block from a rank is the k-th that it has for the caller, each in the order of the topology.
void SharedCollective::find_blocks(const ArgumentSlot& me, Neighbourhood& mine) {
  mine.incoming.reserve(mine.sources.size());
  std::size_t first = 0;  // of those from the same source
  for (std::size_t i = 0; i < mine.sources.size(); ++i) {
    const auto [source, block] = mine.sources[i];
    if (source != mine.sources[first].rank) first = i;
    const auto& theirs = buffers_[source].neighbourhood->destinations;
    const auto begin = std::lower_bound(theirs.begin(), theirs.end(), me.rank,
                                        [](const core::Neighbour& to, int rank) { return to.rank < rank; });
    const std::size_t place = static_cast<std::size_t>(begin - theirs.begin()) + (i - first);
    const bool found = place < theirs.size() && theirs[place].rank == me.rank;
    mine.incoming.push_back({source, block, found ? theirs[place].block : Neighbourhood::kNone});
  }
  mine.sources = {};
}

void SharedCollective::fetch_from_neighbours(ArgumentSlot& me) {
  Neighbourhood& mine = *me.buffers->neighbourhood;
  if (!mine.sources.empty()) find_blocks(me, mine);
  base::Status status;
  for (const auto& [source, block, their_block] : mine.incoming) {
    if (their_block == Neighbourhood::kNone) {
      status = base::fail(MPI_ERR_TOPOLOGY,
                          "rank {} has rank {} as a source more often than that one has it as a destination",
                          me.rank, source);
      continue;
    }
    const Layout to = me.buffers->both->in[block], from = buffers_[source].both->out[their_block];
    const Count expected = to.bytes(), sent = from.bytes();
    fetch(me, to, from);
    if (expected != sent && status.ok())
      status =
          base::fail(MPI_ERR_TRUNCATE,
                     "rank {} sends {} bytes where rank {} expects {}: the counts and datatypes that two "
                     "neighbours pass must describe the same data",
                     source, sent, me.rank, expected);
  }
  if (status.ok()) [[likely]]
    return;
  me.settle(status);
}

}  // namespace clump::coll
