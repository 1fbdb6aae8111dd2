// Intercommunicators (MPI-5.0 section 7.6).
#include <utility>
#include <vector>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/hints.h"
#include "mpi/introduction.h"
#include "mpi/new_comm.h"

namespace clump::mpi {

namespace {

using core::Comm;
using core::Group;

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
  if (local_leader < 0 || local_leader >= local_comm.size())
    return base::fail(MPI_ERR_RANK, "local_leader is {}, but local_comm has {} ranks", local_leader,
                      local_comm.size());

  const auto find = [&](LeaderLink& link) -> base::Status {
    link = {self.comm(peer_comm), remote_leader, tag, tag, {}};
    if (link.comm == nullptr) return base::fail(MPI_ERR_COMM, "peer_comm is not a communicator");
    const int size = link.comm->peers().size();
    if (remote_leader >= 0 && remote_leader < size) return {};
    return base::fail(MPI_ERR_RANK, "remote_leader is {}, but peer_comm has {} ranks", remote_leader, size);
  };
  return introduce(coll::Members(local_comm, coll::Caller::kIntercommCreate), local_leader, find, local_comm,
                   newintercomm);
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
    link = {self.comm_founding.get(), remote->world_rank(remote_leader), tag, tag, {}};
    return {};
  };
  CLUMP_TRY(introduce(coll::Members(*self.comm_founding, local_group, tag), local_leader, find,
                      {self, errhandler}, newintercomm));
  give_hints(*self.comm(*newintercomm), info);
  return {};
}

base::Status intercomm_merge(core::Rank& self, Comm& intercomm, int high, MPI_Comm* newintracomm) {
  if (!intercomm.is_inter()) return base::fail(MPI_ERR_COMM, "intercomm is an intracommunicator");
  const coll::Members members(intercomm, coll::Caller::kIntercommMerge);
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
