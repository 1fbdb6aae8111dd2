#include "mpi/introduction.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "mpi/ports.h"
#include "mpi/process.h"
#include "net/link/host_socket.h"
#include "net/link/link_channel.h"
#include "p2p/p2p.h"

namespace clump::mpi {

namespace {

using core::Group;

using net::link::Location;
using net::link::PeerName;

/// What the leaders tell each other, and then their groups: a head, then the ranks of the group. These are
/// numbers in the job, or names (net/link/peer_name.h) if one of the leaders knows ranks of other jobs among
/// them: such a rank has a number of its own in each process.
struct Introduction {
  /// Number of ranks, contexts, error class, whether there are names, where the leader is.
  std::array<int, 5 + Location::kInts> head{};
  std::vector<int> ranks;

  static constexpr int kRanks = 0, kContexts = 1, kError = 3, kNames = 4, kWhere = 5;
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

/// The group that was told, with the numbers that its ranks have in this process. `places` holds those of
/// other jobs until there is a communicator.
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

/// If one of the two jobs lets other hosts connect, all processes of the group do, and it is known where.
base::Status prepare_for_hosts(core::Rank& self, const Group& local, const Location& theirs) {
  const core::World& world = self.world;
  if (theirs.is_reachable()) CLUMP_TRY(listen_towards(world, net::link::numeric_address(theirs)));
  return world.link->where().is_reachable() ? find_locations(self, local) : base::Status();
}

/// Whether the proposal of contexts of the first of two groups counts: that of the group whose rank 0 comes
/// first, but that no other job has if only one of the two knows of other jobs.
bool first_counts(const Introduction& ours, const Introduction& theirs, bool is_first) {
  const bool our_crossing = core::World::is_crossing(ours.contexts().own);
  const bool their_crossing = core::World::is_crossing(theirs.contexts().own);
  return our_crossing != their_crossing ? our_crossing : is_first;
}

/// What a leader does with the other one. The groups must not overlap.
base::Status meet(core::Rank& self, const LeaderLink& link, const Group& local, Introduction& ours,
                  Introduction& theirs) {
  core::World& world = self.world;
  // Once ranks of other jobs are known, any group may have some.
  const bool knows_others = world.link != nullptr && (link.place || world.link->has_places());
  const auto allocate = [&] {
    return knows_others ? world.allocate_crossing_context() : world.allocate_context();
  };
  const std::array<int, 2> proposed = Contexts{allocate(), allocate()}.as_ints();
  ours.head = {local.size(), proposed[0], proposed[1], MPI_SUCCESS, knows_others ? 1 : 0};
  if (knows_others)
    std::ranges::copy(world.link->where().as_ints(), ours.head.begin() + Introduction::kWhere);
  CLUMP_TRY(swap(link, ours.head, theirs.head));
  ours.head[Introduction::kNames] = theirs.head[Introduction::kNames] =
      ours.has_names() || theirs.has_names();
  if (ours.has_names() && world.link == nullptr)
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "there are ranks of other jobs in the other group: {}",
                      why_no_other_jobs());
  base::Status known;
  if (ours.has_names())
    known = prepare_for_hosts(self, local, Location::from_ints(&theirs.head[Introduction::kWhere]));
  ours.ranks = ours.has_names() ? names_of(world, local) : local.world_ranks();
  theirs.make_room();
  CLUMP_TRY(swap(link, ours.ranks, theirs.ranks));
  std::vector<net::HeldPlace> places;
  base::Ref<const Group> remote;
  if (known.ok()) known = group_of(world, theirs, local.origin(), places, remote);
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
    if (learnt.ok()) learnt = meet(self, link, local, ours, theirs);
  }
  CLUMP_TRY(pass_on(members, leader, learnt, theirs));
  std::vector<net::HeldPlace> places;
  base::Ref<const Group> remote;
  CLUMP_TRY(group_of(self.world, theirs, local.origin(), places, remote));
  *newintercomm =
      self.add(make_comm(heritage, theirs.contexts(), base::Ref<const Group>(&local), std::move(remote)));
  return {};
}

}  // namespace clump::mpi
