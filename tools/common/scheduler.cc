#include "common/scheduler.h"

#include <cstdlib>

namespace clump::tools {

std::string_view name_of(pmi::Scheduler scheduler) {
  return scheduler == pmi::Scheduler::kFibers ? "fibers" : "threads";
}

base::Status parse_scheduler(std::string_view option, std::string_view text, pmi::Scheduler& scheduler) {
  if (text == "fibers") {
    scheduler = pmi::Scheduler::kFibers;
  } else if (text == "threads") {
    scheduler = pmi::Scheduler::kThreads;
  } else {
    return base::fail(MPI_ERR_ARG, "{} '{}': there is 'fibers' and 'threads'", option, text);
  }
  return {};
}

base::Status default_scheduler(bool sanitized, pmi::Scheduler& scheduler) {
  scheduler = kDefaultScheduler;
  if (const char* value = std::getenv("CLUMP_SCHEDULER"); value != nullptr && *value != '\0')
    CLUMP_TRY(parse_scheduler("environment variable CLUMP_SCHEDULER", value, scheduler));
  if (sanitized) scheduler = pmi::Scheduler::kThreads;  // its books are per kernel thread
  return {};
}

}  // namespace clump::tools
