// What the ranks of a process have together, and what each has of the process's. Not for other layers.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace clump::host {

/// Whether the process uses up the resource for all of its ranks.
inline bool is_shared_out(int resource) {
  return resource == RLIMIT_CPU || resource == RLIMIT_MEMLOCK || resource == RLIMIT_NOFILE;
}

/// The limit of the process in which `all` and `one` are those of some of its ranks and of one more. Begins
/// with 0.
inline rlim_t add_limit(int resource, rlim_t all, rlim_t one) {
  if (all == RLIM_INFINITY || one == RLIM_INFINITY) return RLIM_INFINITY;
  if (!is_shared_out(resource)) return std::max(all, one);
  rlim_t sum = 0;
  return __builtin_add_overflow(all, one, &sum) ? RLIM_INFINITY : sum;
}

/// An equal share of `cores` for the `index`-th of `ranks`. With more ranks than cores it is one that others
/// have as well.
inline std::vector<std::int32_t> share_of(std::span<const std::int32_t> cores, std::size_t index,
                                          std::size_t ranks) {
  if (cores.empty()) return {};
  const std::size_t begin = index * cores.size() / ranks;
  const std::size_t end = std::max((index + 1) * cores.size() / ranks, begin + 1);
  return {cores.begin() + static_cast<std::ptrdiff_t>(begin),
          cores.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace clump::host
