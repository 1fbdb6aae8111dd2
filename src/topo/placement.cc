#include "topo/placement.h"

#include <utility>
#include <vector>

namespace clump::topo {

base::Ref<const core::Group> place(const core::Comm& comm, int places, bool) {
  if (places == comm.size()) return comm.group;
  std::vector<int> world_ranks(places);
  for (int rank = 0; rank < places; ++rank) world_ranks[rank] = comm.group->world_rank(rank);
  return core::Group::of(std::move(world_ranks));
}

}  // namespace clump::topo
