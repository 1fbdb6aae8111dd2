// The cores that a job may use, in the order in which workers take them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace clump::tools {

/// The processors that this process may run on, by the system's numbers, in rising order: its affinity mask,
/// which a cpuset, taskset or a batch system may have narrowed.
std::vector<std::int32_t> allowed_processors();

/// Reads "0,4-7": numbers and ranges, in that order, repetitions included. Fails with MPI_ERR_ARG.
base::Status parse_cores(const std::string& text, std::vector<std::int32_t>& cores);

/// One core for each worker: those of `wanted` (see parse_cores(); none: all that are allowed, and no more
/// than the control group's quota pays for, rounded up). Fails with MPI_ERR_ARG if a wanted one is not
/// allowed.
base::Status choose_cores(const std::optional<std::string>& wanted, std::vector<std::int32_t>& cores);

}  // namespace clump::tools
