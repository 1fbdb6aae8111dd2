#include "core/accesses.h"

#include <map>
#include <mutex>

#include "core/rank.h"

namespace clump::core {

AccessCounters& access_counters_of(const Rank& rank) {
  struct Table {
    std::mutex mutex;
    std::map<int, AccessCounters> counters;  // of a map, so that they stay where they are
  };
  static auto& table = *new Table;
  const std::lock_guard lock(table.mutex);
  return table.counters[rank.number];
}

}  // namespace clump::core
