// Hosts that the user names: which names mean the same host, and which this one.
#pragma once

#include <string>
#include <vector>

#include "command/hosts.h"

namespace clump::mpiexec {

/// Looks up all names. A host that has several becomes one entry, with the slots of all, under the first of
/// them; this host is not called localhost where there are others.
void merge_names(std::vector<Host>& hosts);

/// The addresses of this host by which these hosts, after merge_names(), reach it; all that it has if that is
/// not known of one of them. At least one.
std::vector<std::string> own_addresses_towards(const std::vector<Host>& hosts);

}  // namespace clump::mpiexec
