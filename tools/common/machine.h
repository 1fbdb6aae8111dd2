// What lies close to what: the processors of this machine, as hwloc describes them.
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
/// they can: package, node, cache, core. What hwloc does not know is its own core and cache, and part of node
/// and package 0. `synthetic` describes another machine, in hwloc's words; null: this one.
std::vector<Processor> describe(const std::vector<std::int32_t>& numbers, const char* synthetic = nullptr);

}  // namespace clump::tools
