// Intercommunicators (MPI-5.0 section 7.6).
#include <utility>
#include <vector>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/hints.h"
#include "mpi/new_comm.h"
#include "p2p/p2p.h"

namespace clump::mpi {

namespace {

using core::Comm;
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

/// Where the leaders meet: `peer` is the other one's rank in `comm`.
struct LeaderLink {
  Comm* comm = nullptr;
  int peer = MPI_PROC_NULL;
  int tag = 0;
};

base::Status swap(const LeaderLink& link, std::span<int> ours, std::span<int> theirs) {
  const p2p::Address other{*link.comm, link.peer, link.tag};
  return p2p::send_receive(other, layout_of(ours), other, layout_of(theirs));
}

/// What the leader does with the other one. The groups must not overlap.
base::Status introduce(const LeaderLink& link, const Group& local, Introduction& ours, Introduction& theirs) {
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

/// The intercommunicator of the members' group and the one that its leader meets. `find(LeaderLink&)` says
/// where; only the leader is asked.
template <typename Find>
base::Status connect(const coll::Members& members, int leader, Find find, const Heritage& heritage,
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
    if (learnt.ok()) learnt = introduce(link, local, ours, theirs);
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

}  // namespace

base::Status comm_test_inter(core::Rank&, Comm& comm, int* flag) {
  *flag = comm.is_inter() ? 1 : 0;
  return {};
}

base::Status comm_remote_size(core::Rank&, Comm& comm, int* size) {
  if (!comm.is_inter())
    return base::fail(MPI_ERR_COMM, "comm has no remote group: it is an intracommunicator");
  *size = comm.remote_group->size();
  return {};
}

base::Status intercomm_create(core::Rank& self, Comm& local_comm, int local_leader, MPI_Comm peer_comm,
                              int remote_leader, int tag, MPI_Comm* newintercomm) {
  if (local_comm.is_inter()) return base::fail(MPI_ERR_COMM, "local_comm is an intercommunicator");
  if (local_leader < 0 || local_leader >= local_comm.size())
    return base::fail(MPI_ERR_RANK, "local_leader is {}, but local_comm has {} ranks", local_leader,
                      local_comm.size());

  const auto find = [&](LeaderLink& link) -> base::Status {
    link = {self.comm(peer_comm), remote_leader, tag};
    if (link.comm == nullptr) return base::fail(MPI_ERR_COMM, "peer_comm is not a communicator");
    const int size = link.comm->peers().size();
    if (remote_leader >= 0 && remote_leader < size) return {};
    return base::fail(MPI_ERR_RANK, "remote_leader is {}, but peer_comm has {} ranks", remote_leader, size);
  };
  return connect(coll::Members(local_comm), local_leader, find, local_comm, newintercomm);
}

base::Status intercomm_create_from_groups(core::Rank& self, const Group& local_group, int local_leader,
                                          MPI_Group remote_group, int remote_leader, const char* stringtag,
                                          core::Info* info, core::Errhandler& errhandler,
                                          MPI_Comm* newintercomm) {
  CLUMP_TRY(check_membership(self, local_group, "local_group"));
  if (local_leader < 0 || local_leader >= local_group.size())
    return base::fail(MPI_ERR_RANK, "local_leader is {}, but local_group has {} ranks", local_leader,
                      local_group.size());
  CLUMP_TRY(check_hints(info));
  int tag = 0;
  CLUMP_TRY(tag_of(stringtag, tag));
  const auto find = [&](LeaderLink& link) -> base::Status {
    const Group* const remote = self.group(remote_group);
    if (remote == nullptr) return base::fail(MPI_ERR_GROUP, "remote_group is not a group");
    if (remote_leader < 0 || remote_leader >= remote->size())
      return base::fail(MPI_ERR_RANK, "remote_leader is {}, but remote_group has {} ranks", remote_leader,
                        remote->size());
    link = {self.comm_founding.get(), remote->world_rank(remote_leader), tag};
    return {};
  };
  CLUMP_TRY(connect(coll::Members(*self.comm_founding, local_group, tag), local_leader, find,
                    {self, errhandler}, newintercomm));
  give_hints(*self.comm(*newintercomm), info);
  return {};
}

base::Status intercomm_merge(core::Rank& self, Comm& intercomm, int high, MPI_Comm* newintracomm) {
  if (!intercomm.is_inter()) return base::fail(MPI_ERR_COMM, "intercomm is an intracommunicator");
  const coll::Members members(intercomm);
  const int mine = high != 0 ? 1 : 0;
  std::vector<int> theirs(intercomm.remote_group->size());
  CLUMP_TRY(coll::allgather_ints(members, std::span(&mine, 1), theirs));
  Contexts contexts;
  CLUMP_TRY(agree_contexts(members, false, contexts));

  // Both sides low or both high: any order will do, if all ranks choose the same.
  const bool we_come_first = mine != theirs[0] ? mine < theirs[0] : coll::is_first_group(intercomm);
  const Group& first = we_come_first ? *intercomm.group : *intercomm.remote_group;
  const Group& second = we_come_first ? *intercomm.remote_group : *intercomm.group;
  std::vector<int> all = first.world_ranks();
  const std::vector<int> rest = second.world_ranks();
  all.insert(all.end(), rest.begin(), rest.end());
  *newintracomm = self.add(make_comm(intercomm, contexts, Group::of(all, intercomm.group->origin())));
  return {};
}

}  // namespace clump::mpi
