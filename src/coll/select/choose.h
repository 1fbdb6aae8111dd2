// Which algorithm a rank uses for one operation: the table's (select/select.h), unless a tool wants another
// one; and the books that are kept about it (core/tool_observer.h).
#pragma once

#include "coll/schedule/schedule.h"
#include "coll/select/select.h"
#include "core/comm.h"

namespace clump::coll {

/// The same on all ranks, if tools want the same there.
Algorithm choose(const core::Comm& comm, Collective collective, const Situation& situation);
/// Whether the operands of a reduction must be combined in one order, whatever the placement: if that is
/// wanted, and the order makes a difference.
bool needs_one_order(const core::Comm& comm, const Reduction& reduction, const datatype::Datatype& type);
/// Whether elements of a type that a predefined operation is defined on are, or have, floating-point numbers.
bool has_floats(const datatype::Datatype& type);
/// The operation begins: counts it, and tells the observer. By a thread of the communicator's rank.
void note(const core::Comm& comm, Collective collective, Algorithm algorithm, Count bytes);

}  // namespace clump::coll
