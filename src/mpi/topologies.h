// What the bodies of MPI-5.0 chapter 8 share.
#pragma once

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

/// A new communicator for a topology with `places`, at most as many as `comm_old` has ranks; the topology is
/// the caller's to add. Collective. Null in ranks that have no place.
base::Status make_places(core::Comm& comm_old, int places, bool reorder, base::Ref<core::Comm>& made);

}  // namespace clump::mpi
