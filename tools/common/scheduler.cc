#include "common/scheduler.h"

#include <cerrno>
#include <cstdlib>

#include "base/why_refused.h"
#include "common/system.h"

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

std::string why_no_fibers() {
  return has_membarrier() ? std::string() : "they need " + base::why_refused("membarrier", errno);
}

base::Status default_scheduler(bool sanitized, pmi::Scheduler& scheduler, std::string& why) {
  scheduler = kDefaultScheduler;
  if (const char* value = std::getenv("CLUMP_SCHEDULER"); value != nullptr && *value != '\0')
    CLUMP_TRY(parse_scheduler("environment variable CLUMP_SCHEDULER", value, scheduler));
  why = sanitized ? "a sanitizer is in it" : "";  // its books are per kernel thread
  if (!sanitized && scheduler == pmi::Scheduler::kFibers) why = why_no_fibers();
  if (!why.empty()) scheduler = pmi::Scheduler::kThreads;
  return {};
}

}  // namespace clump::tools
