#include "mpi/introduction.h"

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "mpi/ports.h"
#include "mpi/process.h"
#include "net/link/link_channel.h"
#include "p2p/p2p.h"

namespace clump::mpi {

namespace {

using core::Group;

using net::link::PeerName;

/// What the leaders tell each other, and then their groups: a head, then the ranks of the group. These are
/// numbers in the job, or names (net/link/peer_name.h) if one of the leaders knows ranks of other jobs among
/// them: such a rank has a number of its own in each process.
struct Introduction {
  std::array<int, 5> head{};  // number of ranks, contexts, error class, whether there are names
  std::vector<int> ranks;

  static constexpr int kRanks = 0, kContexts = 1, kError = 3, kNames = 4;
  Contexts contexts() const { return Contexts::from_ints(std::span(head).subspan<kContexts, 2>()); }
  bool has_names() const { return head[kNames] != 0; }
  void make_room() {
    ranks.resize(static_cast<std::size_t>(head[kRanks]) * (has_names() ? PeerName::kInts : 1));
  }
};

datatype::Layout layout_of(std::span<int> ints) {
  return {ints.data(), static_cast<Count>(ints.size()), datatype::predefined(MPI_INT)};
}

base::Status swap(const LeaderLink& link, std::span<int> ours, std::span<int> theirs) {
  return p2p::send_receive({*link.comm, link.peer, link.sent_tag}, layout_of(ours),
                           {*link.comm, link.peer, link.received_tag}, layout_of(theirs));
}

std::vector<int> names_of(const core::World& world, const Group& group) {
  std::vector<int> names;
  for (int rank = 0; rank < group.size(); ++rank)
    for (const int number : world.link->name_of(group.world_rank(rank)).as_ints()) names.push_back(number);
  return names;
}

/// The group that was told, with the numbers that its ranks have in this process. `places` holds those of other
/// jobs until there is a communicator.
base::Status group_of(const core::World& world, const Introduction& told, core::Origin origin,
                      std::vector<net::HeldPlace>& places, base::Ref<const Group>& group) {
  if (!told.has_names()) {
    group = Group::of(told.ranks, origin);
    return {};
  }
  CLUMP_TRY(listen_to_jobs(world));
  std::vector<int> ranks;
  for (std::size_t at = 0; at < told.ranks.size(); at += PeerName::kInts) {
    places.push_back(world.link->hold_place_of(PeerName::from_ints(&told.ranks[at]), ranks.emplace_back()));
    if (ranks.back() < 0)
      return base::fail(
          MPI_ERR_UNSUPPORTED_OPERATION,
          "a process can be connected to {} ranks of other jobs at a time, and this would be more; "
          "those that have left count as long as a group has them (MPI_Group_free)",
          room_for_jobs());
  }
  group = Group::of(ranks, origin);
  return {};
}

/// Ranks of other jobs reach those on their own host only: if there are some in the groups, all ranks of this
/// job have to be on one.
base::Status check_hosts(const core::World& world, const Group& local, const Group& remote) {
  bool has_others = false;
  int first = -1, elsewhere = -1;
  for (const Group* const group : {&local, &remote})
    for (int rank = 0; rank < group->size(); ++rank) {
      const int number = group->world_rank(rank);
      if (world.link->is_place(number))
        has_others = true;
      else if (first < 0)
        first = number;
      else if (world.node_of(number) != world.node_of(first))
        elsewhere = number;
    }
  if (!has_others || elsewhere < 0) return {};
  return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                    "rank {} of this job is on another host than rank {}, and ranks of another job can be "
                    "connected to those of one host only: use a communicator of such ranks "
                    "(MPI_Comm_split_type with MPI_COMM_TYPE_SHARED)",
                    elsewhere, first);
}

/// Whether the proposal of contexts of the first of two groups counts: that of the group whose rank 0 comes
/// first, but that no other job has if only one of the two knows of other jobs.
bool first_counts(const Introduction& ours, const Introduction& theirs, bool is_first) {
  const bool our_crossing = core::World::is_crossing(ours.contexts().own);
  const bool their_crossing = core::World::is_crossing(theirs.contexts().own);
  return our_crossing != their_crossing ? our_crossing : is_first;
}

/// What a leader does with the other one. The groups must not overlap.
base::Status meet(core::World& world, const LeaderLink& link, const Group& local, Introduction& ours,
                  Introduction& theirs) {
  // Once ranks of other jobs are known, any group may have some.
  const bool knows_others = world.link != nullptr && (link.place || world.link->has_places());
  const auto allocate = [&] {
    return knows_others ? world.allocate_crossing_context() : world.allocate_context();
  };
  const std::array<int, 2> proposed = Contexts{allocate(), allocate()}.as_ints();
  ours.head = {local.size(), proposed[0], proposed[1], MPI_SUCCESS, knows_others ? 1 : 0};
  CLUMP_TRY(swap(link, ours.head, theirs.head));
  ours.head[Introduction::kNames] = theirs.head[Introduction::kNames] = ours.has_names() || theirs.has_names();
  if (ours.has_names() && world.link == nullptr)
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "there are ranks of other jobs in the other group: {}",
                      why_no_other_jobs());
  ours.ranks = ours.has_names() ? names_of(world, local) : local.world_ranks();
  theirs.make_room();
  CLUMP_TRY(swap(link, ours.ranks, theirs.ranks));
  std::vector<net::HeldPlace> places;
  base::Ref<const Group> remote;
  base::Status known = group_of(world, theirs, local.origin(), places, remote);
  if (known.ok() && ours.has_names()) known = check_hosts(world, local, *remote);
  // What two jobs know of each other differs: both sides fail, or none.
  if (ours.has_names()) {
    std::array<int, 1> own{known.error_class()}, other{};
    CLUMP_TRY(swap(link, own, other));
    if (known.ok() && other[0] != MPI_SUCCESS)
      return base::fail(other[0], "the other side cannot be connected to this one, and has the reason");
  }
  CLUMP_TRY(known);
  for (int rank = 0; rank < remote->size(); ++rank)
    if (local.rank_of(remote->world_rank(rank)) != MPI_UNDEFINED)
      return base::fail(MPI_ERR_COMM,
                        "{} of the remote group is in the local one, too; they must be disjoint",
                        remote->name_of(rank));
  if (first_counts(ours, theirs, world.is_before(local.world_rank(0), remote->world_rank(0))))
    for (const int i : {Introduction::kContexts, Introduction::kContexts + 1}) theirs.head[i] = ours.head[i];
  return {};
}

/// The leader tells its group what it learnt, or that it failed.
base::Status pass_on(const coll::Members& members, int leader, base::Status learnt, Introduction& theirs) {
  theirs.head[Introduction::kError] = learnt.error_class();
  CLUMP_TRY(coll::bcast_ints(members, theirs.head, leader));
  if (members.rank == leader) CLUMP_TRY(learnt);
  if (const int error = theirs.head[Introduction::kError]; error != MPI_SUCCESS)
    return base::fail(error, "the local leader, rank {}, could not meet the remote leader", leader);
  theirs.make_room();
  return coll::bcast_ints(members, theirs.ranks, leader);
}

}  // namespace

base::Status introduce(const coll::Members& members, int leader,
                       const std::function<base::Status(LeaderLink&)>& find, const Heritage& heritage,
                       MPI_Comm* newintercomm) {
  core::Rank& self = heritage.owner;
  const Group& local = members.group;
  Introduction ours, theirs;
  base::Status learnt;
  LeaderLink link;
  if (members.rank == leader) {
    learnt = find(link);
    if (learnt.ok()) learnt = meet(self.world, link, local, ours, theirs);
  }
  CLUMP_TRY(pass_on(members, leader, learnt, theirs));
  std::vector<net::HeldPlace> places;
  base::Ref<const Group> remote;
  CLUMP_TRY(group_of(self.world, theirs, local.origin(), places, remote));
  *newintercomm = self.add(
      make_comm(heritage, theirs.contexts(), base::Ref<const Group>(&local), std::move(remote)));
  return {};
}

}  // namespace clump::mpi
