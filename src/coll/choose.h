// Which algorithm a rank uses for one operation: the table's (select.h), unless a tool wants another one; and
// the books that are kept about it (core/watcher.h).
#pragma once

#include "coll/select.h"
#include "core/comm.h"

namespace clump::coll {

/// The same on all ranks, if tools want the same there.
Algorithm choose(const core::Comm& comm, Collective collective, const Situation& situation);
/// The operation begins: counts it, and tells who watches. By a thread of the communicator's rank.
void note(const core::Comm& comm, Collective collective, Algorithm algorithm, Count bytes);

}  // namespace clump::coll
