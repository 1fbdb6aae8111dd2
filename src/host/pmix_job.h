// The description of a job that another launcher has started, made of what PMIx tells: on which host each
// rank is. Not for other layers.
#pragma once

#include <string>
#include <vector>

#include "pmi/job.h"

namespace clump::host {

/// Fills in who is where: each rank is a process, and the ranks of a host have slots that follow each other.
/// `hosts`: the name of the host of each rank, in whatever order. `own`: the caller's rank. `cores`: of this
/// host; 0: not known.
void describe_by_hosts(pmi::Job& job, const std::vector<std::string>& hosts, int own, unsigned cores);

}  // namespace clump::host
