// What runs the ranks, unless the user says.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "pmi/job.h"

namespace clump::tools {

inline constexpr pmi::Scheduler kDefaultScheduler = pmi::Scheduler::kFibers;

/// "fibers" or "threads".
std::string_view name_of(pmi::Scheduler scheduler);

/// Reads a name, the value of `option`. Fails with MPI_ERR_ARG and a message that says which there are.
base::Status parse_scheduler(std::string_view option, std::string_view text, pmi::Scheduler& scheduler);

/// For a program that is built with a sanitizer, or not. The environment variable CLUMP_SCHEDULER names
/// another default (the tests set it); fails with MPI_ERR_ARG if that is no name. Where fibers cannot be, it
/// is threads, and `why` says why; else `why` becomes empty.
base::Status default_scheduler(bool sanitized, pmi::Scheduler& scheduler, std::string& why);

/// What this system lacks for fibers; empty: nothing.
std::string why_no_fibers();

}  // namespace clump::tools
