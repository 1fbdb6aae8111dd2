// The algorithms of messages, one row each: how an operation, or a part of one, is written into a schedule.
//
// A new algorithm is a function in this folder or in hierarchical/, a row in registry.cc, its name and rules
// in select/select.cc.
#pragma once

#include "coll/call.h"
#include "coll/schedule/schedule.h"

namespace clump::coll {

/// Writes the operation into the schedule by the algorithm that the selection names. The schedule was made
/// with the reduction of the call. Ranks are those of the schedule, which may be some of the communicator's
/// (Schedule::Among).
void write(Schedule& s, const Call& call);

}  // namespace clump::coll
