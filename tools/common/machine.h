// What lies close to what: the processors of this machine, as Linux describes them under /sys.
//
// Read directly and not through hwloc, because a job starts in some 15 ms and loading a topology takes hwloc
// 1 to 5 ms on two cores and more on larger machines; what is needed here are four files for each group.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace clump::tools {

/// A processor of the system (hardware thread). Groups are named by their lowest processor, nodes by their
/// number.
struct Processor {
  std::int32_t number = 0;
  std::int32_t core = 0;     ///< with SMT, processors of one core share it
  std::int32_t cache = 0;    ///< those that share the last level of cache
  std::int32_t node = 0;     ///< NUMA
  std::int32_t package = 0;  ///< socket
  std::int32_t cache_level = 0;
};

/// "0,4-7" as numbers in that order. False if it is something else.
bool read_list(const std::string& text, std::vector<std::int32_t>& numbers);
/// The reverse, for numbers in rising order.
std::string as_list(const std::vector<std::int32_t>& numbers);

/// Describes the processors with these numbers; the result is ordered so that neighbours share as much as
/// they can: package, node, cache, core. `system` is /sys/devices/system, or a copy of it. Where a file is
/// missing, a processor is its own core and cache, and part of node and package 0.
std::vector<Processor> describe(const std::vector<std::int32_t>& numbers, const std::string& system);

}  // namespace clump::tools
