// Where the ranks of a communicator with a topology come from: the one place that decides on reordering
// (MPI-5.0 section 8.5.1, `reorder`).
#pragma once

#include "core/comm.h"

namespace clump::topo {

/// The group of a new communicator with `places` ranks of `comm`, an intracommunicator that has as many or
/// more. Every rank calls it with the same arguments and gets the same group; no communication.
///
/// With `reorder` the ranks may be numbered so that neighbours are close to each other. They are not yet: in
/// one address space all are close, and consecutive ranks, which have a worker in common, are neighbours on a
/// grid as it is.
base::Ref<const core::Group> place(const core::Comm& comm, int places, bool reorder);

}  // namespace clump::topo
