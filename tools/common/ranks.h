// As what the ranks of a job run: what the user asks for.
#pragma once

#include <optional>
#include <string_view>

#include "base/status.h"
#include "pmi/job.h"

namespace clump::tools {

struct Ranks {
  enum class As : std::uint8_t {
    kAuto,       ///< images where the program can have them, processes where it cannot
    kImages,     ///< of host processes that several of them share
    kProcesses,  ///< a process each
  };
  As as = As::kAuto;
  std::optional<pmi::Scheduler> scheduler;  ///< of ranks with images; none: the default
  int per_process = 0;                      ///< ranks with images in one host process; 0: all
};

/// Reads "auto", "fibers", "threads" or "processes", the value of `option`. Fails with MPI_ERR_ARG.
base::Status parse_ranks(std::string_view option, std::string_view text, Ranks& ranks);

/// What the environment variables CLUMP_RANKS and CLUMP_PER_PROCESS say (the tests set them). Fails with
/// MPI_ERR_ARG.
base::Status default_ranks(Ranks& ranks);

}  // namespace clump::tools
