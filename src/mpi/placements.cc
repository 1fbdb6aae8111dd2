#include "mpi/placements.h"

#include <unistd.h>

#include <array>
#include <span>

#include "coll/coll.h"
#include "coll/schedule/agree.h"
#include "core/op.h"
#include "core/rank.h"
#include "topo/partition.h"
#include "topo/placement.h"

namespace clump::mpi {

namespace {

using core::Comm;

/// What rank 0 says to the others before the ranks.
enum class Verdict { kAsTheyAre, kReordered };

/// The worker that is home to each rank, as only its own host knows, for rank 0.
base::Status find_homes(Comm& comm, std::vector<int>& homes) {
  const core::World& world = comm.owner.world;
  const auto self = static_cast<std::size_t>(comm.owner.number);
  int own = world.homes.empty() ? 0 : world.homes[self];
  if (comm.rank == 0) homes.resize(static_cast<std::size_t>(comm.size()));
  const auto type = datatype::predefined(MPI_INT);
  const datatype::Layout all{homes.data(), static_cast<Count>(homes.size()), type};
  return coll::run(comm, coll::Call::gather({&own, 1, type}, all, 0).by(coll::Caller::kGraphCreate));
}

/// At rank 0. Where there is no Scotch, all stays as it is, and `why_not` says so.
void decide(const Comm& comm, int places, std::span<const topo::Link> links, std::span<const int> homes,
            std::vector<int>& ranks, std::string& why_not) {
  std::vector<int> hosts;
  for (int rank = 0; rank < places; ++rank)
    hosts.push_back(comm.owner.world.node_of(comm.group->world_rank(rank)));
  const base::Status placed = topo::place_on_hosts(topo::Links(places, links), hosts,
                                                   homes.first(static_cast<std::size_t>(places)), ranks);
  if (placed.ok()) return;
  ranks.clear();
  why_not = base::message_of(placed.code());
}

struct ReachedCounts {
  std::int64_t all = 0, hosts = 0, workers = 0;
};

ReachedCounts count(const core::Rank& self, std::span<const Reach> reached) {
  const core::World& world = self.world;
  const auto home = [&](int rank) {
    return world.homes.empty() ? 0 : world.homes[static_cast<std::size_t>(rank)];
  };
  ReachedCounts sums;
  for (const Reach& one : reached) {
    if (one.rank == self.number) continue;
    sums.all += one.weight;
    if (world.node_of(one.rank) != world.node_of(self.number))
      sums.hosts += one.weight;
    else if (home(one.rank) != home(self.number))
      sums.workers += one.weight;
  }
  return sums;
}

}  // namespace

base::Status place_graph(Comm& comm, int places, const CollectLinks& collect, std::vector<int>& ranks,
                         std::string& why_not) {
  ranks.clear();
  if (comm.crosses_jobs() || !topo::Sites(comm, places).matter()) return {};
  std::vector<int> homes;
  std::vector<topo::Link> links;
  CLUMP_TRY(find_homes(comm, homes));
  CLUMP_TRY(collect(links));
  if (comm.rank == 0) decide(comm, places, links, homes, ranks, why_not);
  int verdict = static_cast<int>(ranks.empty() ? Verdict::kAsTheyAre : Verdict::kReordered);
  CLUMP_TRY(coll::bcast_ints(coll::Members(comm, coll::Caller::kGraphCreate), {&verdict, 1}, 0));
  if (Verdict{verdict} == Verdict::kAsTheyAre) return {};
  ranks.resize(static_cast<std::size_t>(places));
  return coll::bcast_ints(coll::Members(comm, coll::Caller::kGraphCreate), ranks, 0);
}

bool is_told(const Comm& comm) { return comm.owner.world.tells_placement; }

base::Status tell(Comm& made, const Comm& comm_old, const Placed& placed) {
  const ReachedCounts before = count(made.owner, placed.without), after = count(made.owner, placed.reached);
  std::array<std::int64_t, 6> own{before.all, before.hosts, before.workers,
                                  after.all,  after.hosts,  after.workers};
  std::array<std::int64_t, 6> sums{};
  const core::Op sum(MPI_SUM);
  const auto type = datatype::predefined(MPI_INT64_T);
  CLUMP_TRY(coll::run(
      made, coll::Call::allreduce({&sum, MPI_INT64_T}, {own.data(), 6, type}, {sums.data(), 6, type})));
  if (comm_old.rank != 0) return {};
  for (std::int64_t& one : sums) one /= placed.ends;
  std::string text = fmt::format("map: {}: {} {}", placed.what, sums[3], placed.links);
  if (!comm_old.owner.world.nodes.empty())
    text += fmt::format(", {} between hosts ({} without reorder)", sums[4], sums[1]);
  text += fmt::format(", {} between workers of a host ({} without reorder)", sums[5], sums[2]);
  if (!placed.why_not.empty()) text += fmt::format("; nobody is reordered: {}", placed.why_not);
  text += '\n';
  // At once, so that no other rank's output gets in between.
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
  return {};
}

}  // namespace clump::mpi
