#include "mpi/introduction.h"

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "p2p/p2p.h"

namespace clump::mpi {

namespace {

using core::Group;

/// What the leaders tell each other, and then their groups: a head, then the ranks of the group in the job.
struct Introduction {
  std::array<int, 4> head{};  // number of ranks, contexts, error class
  std::vector<int> world_ranks;

  static constexpr int kRanks = 0, kContexts = 1, kError = 3;
  Contexts contexts() const { return Contexts::from_ints(std::span(head).subspan<kContexts, 2>()); }
};

datatype::Layout layout_of(std::span<int> ints) {
  return {ints.data(), static_cast<Count>(ints.size()), datatype::predefined(MPI_INT)};
}

base::Status swap(const LeaderLink& link, std::span<int> ours, std::span<int> theirs) {
  const p2p::Address other{*link.comm, link.peer, link.tag};
  return p2p::send_receive(other, layout_of(ours), other, layout_of(theirs));
}

/// What a leader does with the other one. The groups must not overlap.
base::Status meet(const LeaderLink& link, const Group& local, Introduction& ours, Introduction& theirs) {
  CLUMP_TRY(swap(link, ours.head, theirs.head));
  theirs.world_ranks.resize(theirs.head[Introduction::kRanks]);
  CLUMP_TRY(swap(link, ours.world_ranks, theirs.world_ranks));
  for (const int world_rank : theirs.world_ranks)
    if (local.rank_of(world_rank) != MPI_UNDEFINED)
      return base::fail(MPI_ERR_COMM, "rank {} of the job is in both groups; they must be disjoint",
                        world_rank);
  return {};
}

/// The leader tells its group what it learnt, or that it failed.
base::Status pass_on(const coll::Members& members, int leader, base::Status learnt, Introduction& theirs) {
  theirs.head[Introduction::kError] = learnt.error_class();
  CLUMP_TRY(coll::bcast_ints(members, theirs.head, leader));
  if (members.rank == leader) CLUMP_TRY(learnt);
  if (const int error = theirs.head[Introduction::kError]; error != MPI_SUCCESS)
    return base::fail(error, "the local leader, rank {}, could not meet the remote leader", leader);
  theirs.world_ranks.resize(theirs.head[Introduction::kRanks]);
  return coll::bcast_ints(members, theirs.world_ranks, leader);
}

}  // namespace

base::Status introduce(const coll::Members& members, int leader,
                       const std::function<base::Status(LeaderLink&)>& find, const Heritage& heritage,
                       MPI_Comm* newintercomm) {
  core::Rank& self = heritage.owner;
  const Group& local = members.group;
  Introduction ours, theirs;
  base::Status learnt;
  if (members.rank == leader) {
    ours.world_ranks = local.world_ranks();
    const Contexts proposed = {self.world.allocate_context(), self.world.allocate_context()};
    ours.head = {local.size(), proposed.as_ints()[0], proposed.as_ints()[1], MPI_SUCCESS};
    LeaderLink link;
    learnt = find(link);
    if (learnt.ok()) learnt = meet(link, local, ours, theirs);
    // One proposal counts for both sides: that of the group whose rank 0 comes first in the job.
    if (learnt.ok() && ours.world_ranks[0] < theirs.world_ranks[0])
      for (const int i : {Introduction::kContexts, Introduction::kContexts + 1})
        theirs.head[i] = ours.head[i];
  }
  CLUMP_TRY(pass_on(members, leader, learnt, theirs));
  *newintercomm = self.add(make_comm(heritage, theirs.contexts(), base::Ref<const Group>(&local),
                                     Group::of(theirs.world_ranks, local.origin())));
  return {};
}

}  // namespace clump::mpi
