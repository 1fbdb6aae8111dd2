// The cores that a job may use, in the order in which its workers take them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "common/control_groups.h"
#include "common/machine.h"

namespace clump::tools {

/// The processors that this process may run on, by the system's numbers, in rising order: its affinity mask,
/// which a cpuset, taskset or a batch system may have narrowed. Empty if the kernel does not tell.
std::vector<std::int32_t> allowed_processors();

/// What the user asks for.
struct CoreWish {
  std::optional<std::string> list;  ///< these processors ("0,4-7", repetitions included), in this order
  bool hardware_threads = false;    ///< a worker for each hardware thread, not for each core
};

struct UsableCores {
  std::vector<Processor> all;  ///< one for each worker that the job can have
  std::optional<Quota> quota;  ///< pays for fewer than all; `most` says for how many
  std::size_t most = 0;        ///< workers
};

/// Finds them: all that are allowed, one hardware thread of each core, neighbours next to each other. A
/// control group's quota is rounded up to whole workers; it does not limit a list. Fails with MPI_ERR_ARG if
/// the list names what is not allowed.
base::Status find_cores(const CoreWish& wish, UsableCores& cores);

/// Keeps other jobs' workers off `wanted` of these cores until this process ends, and says which: those that
/// no job has yet; if these are too few, those that one has, and so on. Costs a socket for each core; jobs of
/// other network namespaces do not see it.
std::vector<Processor> claim(const std::vector<Processor>& cores, std::size_t wanted);

}  // namespace clump::tools
