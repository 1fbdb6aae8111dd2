// Small agreements among the ranks of a communicator, for making communicators, on top of the same schedules
// that the user's collectives are made of.
//
// All functions block, and must be called by all members in the same order, as collectives are. They fail
// only when a message fails; all members then see a failure or none of the values can be trusted.
#pragma once

#include <span>

#include "base/status.h"
#include "coll/caller.h"
#include "core/comm.h"
#include "core/group.h"
#include "datatype/datatype.h"

namespace clump::coll {

class Schedule;

/// The ranks that take part in an agreement. Cheap to make; refers to the communicator and the group.
class Members {
 public:
  /// All ranks of a communicator: of an intercommunicator, both groups.
  Members(core::Comm& comm, Caller caller)
      : comm(comm), group(*comm.group), rank(comm.rank), caller(caller) {}
  /// A part of an intracommunicator, told apart from concurrent agreements in it by `tag`
  /// (MPI_Comm_create_group, MPI-5.0 section 7.4.2). The caller is in `group`.
  Members(core::Comm& comm, const core::Group& group, int tag)
      : comm(comm),
        group(group),
        rank(group.rank_of(comm.group->world_rank(comm.rank))),
        part(true),
        part_tag(tag) {}

  core::Comm& comm;
  const core::Group& group;  ///< the local group, where the communicator has two
  const int rank;            ///< of the caller in `group`
  const bool part = false;
  const int part_tag = 0;
  const Caller caller = Caller::kOwn;  ///< not compared among a part

  int size() const { return group.size(); }
};

/// The `mine` of all ranks, in their order; `mine` has the same size n everywhere, and `all` has n * (number
/// of ranks). On an intercommunicator `all` gets what the *remote* group gave, n * (number of remote ranks).
base::Status allgather_ints(const Members& members, std::span<const int> mine, std::span<int> all);

/// `values` of rank `root` go to all. Not for intercommunicators.
base::Status bcast_ints(const Members& members, std::span<int> values, int root);

/// `values` of one rank go to all: rank 0's; of an intercommunicator, rank 0's of the group whose rank 0
/// comes first in the job (is_first_group()), to both groups. So: rank 0 of each group allocates a context,
/// and this makes one of them that of all.
base::Status share_ints(const Members& members, std::span<int> values);
/// The same as steps of a schedule that was made with these members.
void share(Schedule& s, const Members& members, const datatype::Layout& values);
/// Whether the caller's group is the one that share_ints() takes from. True for intracommunicators.
bool is_first_group(const core::Comm& comm);

/// The largest, the smallest and the bitwise and of each position over all members (of both groups).
base::Status agree_max(const Members& members, std::span<int> values);
base::Status agree_min(const Members& members, std::span<int> values);
base::Status agree_and(const Members& members, std::span<int> values);

/// Returns when all members (of both groups) have called it.
base::Status synchronize(const Members& members);

}  // namespace clump::coll
