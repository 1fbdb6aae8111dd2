// What the bodies of MPI-5.0 chapter 8 share.
#pragma once

#include "coll/caller.h"
#include "core/comm.h"

namespace clump::mpi {

/// The topology of `comm` as what it is, or a failure that says which kind was wanted: one of `topo`, as
/// `name` calls it, which the function `maker` makes.
template <typename Kind>
base::Status find_topology(const core::Comm& comm, const char* name, const char* maker, const Kind*& found) {
  found = dynamic_cast<const Kind*>(comm.topology.get());
  if (found != nullptr) return {};
  return base::fail(MPI_ERR_TOPOLOGY, "comm has no {} topology; {} makes one", name, maker);
}

base::Status check_room(const char* name, int room, std::size_t needed, const char* things);

/// A new communicator for a topology, of ranks of `comm_old`; the topology is the caller's to add.
/// Collective. Null in ranks that are not in `group`.
base::Status make_places(core::Comm& comm_old, coll::Caller caller, base::Ref<const core::Group> group,
                         base::Ref<core::Comm>& made);

}  // namespace clump::mpi
