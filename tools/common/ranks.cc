#include "common/ranks.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace clump::tools {

base::Status parse_ranks(std::string_view option, std::string_view text, Ranks& ranks) {
  if (text == "auto") {
    ranks.as = Ranks::As::kAuto;
  } else if (text == "fibers") {
    ranks.as = Ranks::As::kImages;
    ranks.scheduler = pmi::Scheduler::kFibers;
  } else if (text == "threads") {
    ranks.as = Ranks::As::kImages;
    ranks.scheduler = pmi::Scheduler::kThreads;
  } else if (text == "processes") {
    ranks.as = Ranks::As::kProcesses;
  } else {
    return base::fail(MPI_ERR_ARG, "{} '{}': there is 'auto', 'fibers', 'threads' and 'processes'", option,
                      text);
  }
  return {};
}

base::Status default_ranks(Ranks& ranks) {
  if (const char* text = std::getenv("CLUMP_RANKS"); text != nullptr && *text != '\0')
    CLUMP_TRY(parse_ranks("environment variable CLUMP_RANKS", text, ranks));
  if (const char* text = std::getenv("CLUMP_PER_PROCESS"); text != nullptr && *text != '\0') {
    const char* const end = text + std::strlen(text);
    const auto read = std::from_chars(text, end, ranks.per_process);
    if (read.ec != std::errc() || read.ptr != end || ranks.per_process < 1)
      return base::fail(MPI_ERR_ARG,
                        "environment variable CLUMP_PER_PROCESS '{}': a number of ranks, at least 1", text);
  }
  return {};
}

}  // namespace clump::tools
