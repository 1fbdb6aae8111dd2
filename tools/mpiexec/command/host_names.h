// Hosts that the user names: which names mean the same host, and which this one.
#pragma once

#include <vector>

#include "command/hosts.h"

namespace clump::mpiexec {

/// Looks up all names. A host that has several becomes one entry, with the slots of all, under the first of
/// them; this host is not called localhost where there are others.
void merge_names(std::vector<Host>& hosts);

}  // namespace clump::mpiexec
