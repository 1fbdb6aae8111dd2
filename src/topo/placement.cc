#include "topo/placement.h"

#include <mutex>
#include <unordered_map>

#include "core/rank.h"
#include "topo/packing.h"

namespace clump::topo {

namespace {

/// The rank of `comm` for each place.
std::vector<int> rank_at_places(const core::Comm& comm, const Grid& grid) {
  const int places = grid.places();
  const Sites sites(comm, places);
  std::vector<int> ranks;
  if (!sites.matter()) return ranks;
  const std::vector<int> packed = pack(grid, sites.of);
  if (packed == sites.of) return ranks;
  std::vector<std::vector<int>> places_of(static_cast<std::size_t>(sites.count));
  for (int place = 0; place < places; ++place)
    places_of[static_cast<std::size_t>(packed[static_cast<std::size_t>(place)])].push_back(place);
  // Ranks of a host have its workers in blocks, but elsewhere nobody knows how large these are.
  if (sites.are_hosts)
    for (std::vector<int>& some : places_of) sort_by_halves(grid, some);
  ranks.resize(static_cast<std::size_t>(places));
  std::vector<std::size_t> next(places_of.size(), 0);
  for (int rank = 0; rank < places; ++rank) {
    const auto site = static_cast<std::size_t>(sites.of[static_cast<std::size_t>(rank)]);
    ranks[static_cast<std::size_t>(places_of[site][next[site]++])] = rank;
  }
  return ranks;
}

/// What the ranks of a process have worked out last: all of them want the same at about the same time.
struct Known {
  std::mutex mutex;
  base::Ref<const core::Group> from, placed;
  std::vector<Grid::Dimension> dimensions;
};

}  // namespace

Sites::Sites(const core::Comm& comm, int ranks) {
  const core::World& world = comm.owner.world;
  std::unordered_map<int, int> number_of;
  const auto number = [&](const std::vector<int>& where) {
    number_of.clear();
    of.clear();
    for (int rank = 0; rank < ranks; ++rank) {
      const int here = where[static_cast<std::size_t>(comm.group->world_rank(rank))];
      of.push_back(number_of.try_emplace(here, static_cast<int>(number_of.size())).first->second);
    }
    count = static_cast<int>(number_of.size());
  };
  if (!world.nodes.empty()) number(world.nodes);
  are_hosts = count > 1;
  if (are_hosts) return;
  // Only ranks of a host know its workers.
  for (int rank = ranks; rank < comm.size(); ++rank)
    if (world.node_of(comm.group->world_rank(rank)) != world.node_of(comm.group->world_rank(0))) return;
  if (!world.homes.empty()) number(world.homes);
}

base::Ref<const core::Group> place(const core::Comm& comm, const Grid& grid, bool reorder) {
  // Ranks of other jobs know other things of the hosts.
  if (!reorder || comm.crosses_jobs()) return comm.group->first(grid.places());
  static Known& known = *new Known;  // never destroyed: ranks may still run when the process ends
  const std::lock_guard lock(known.mutex);
  if (known.from && known.from->origin() == comm.group->origin() && known.from->same_order(*comm.group) &&
      known.dimensions == grid.dimensions())
    return known.placed;
  const std::vector<int> ranks = rank_at_places(comm, grid);
  known.placed = ranks.empty() ? comm.group->first(grid.places()) : comm.group->part(ranks);
  known.from = comm.group;
  known.dimensions = grid.dimensions();
  return known.placed;
}

}  // namespace clump::topo
