// Process sets (MPI-5.0 section 11.3.2): the groups of ranks that have a name before any communicator is
// made.
//
//   mpi://WORLD, mpi://SELF   as the standard wants them
//   clump://node/HOST         the ranks of a host
//   clump://app/N             the ranks of one part of an MPMD command line: MPI_APPNUM is N
//   clump://worker/N          the ranks that take turns on one core
//
// They do not change while a job runs. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ref.h"
#include "core/group.h"

namespace clump::core {

class Rank;

/// The names of the sets that `rank` is in, always in the same order.
std::vector<std::string> process_sets_of(const Rank& rank);
/// Whether `text`, as a program writes it, is the name of the set `name`. The standard's own names may be in
/// upper or lower case, as schemes and authorities of URIs may (mpi://self).
bool names_process_set(std::string_view text, std::string_view name);
/// The set that `name` means; null if `rank` is in no such set.
base::Ref<const Group> process_set(const Rank& rank, std::string_view name, Origin origin);

}  // namespace clump::core
