// How two groups that have no communicator in common get an intercommunicator: their leaders meet in some
// communicator, and each tells its group what it has learnt (MPI_Intercomm_create, MPI_Comm_accept, ...).
#pragma once

#include <functional>

#include "coll/schedule/agree.h"
#include "core/rank.h"
#include "mpi/new_comm.h"
#include "net/link/held_place.h"

namespace clump::mpi {

/// Where the leaders meet: `peer` is the other one's rank in `comm`.
struct LeaderLink {
  core::Comm* comm = nullptr;
  int peer = MPI_PROC_NULL;
  /// Of what this leader sends, and of what it receives. Different if the two leaders may have another
  /// introduction at the same time that has the same tag.
  int sent_tag = 0, received_tag = 0;
  net::HeldPlace place;  ///< of the other leader, if it is of another job
};

/// The intercommunicator of the members' group and the one that its leader meets. `find` says where; only the
/// leader is asked. Collective over the members.
base::Status introduce(const coll::Members& members, int leader,
                       const std::function<base::Status(LeaderLink&)>& find, const Heritage& heritage,
                       MPI_Comm* newintercomm);

}  // namespace clump::mpi
