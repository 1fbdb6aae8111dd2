// The buffers of a rank's receives that are not complete (mpiexec --check).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "core/site.h"
#include "datatype/overlap.h"

namespace clump::core {

/// A buffer that a call of the program's has given to MPI. The type lives as long as this.
struct BufferInUse {
  datatype::Layout data;
  Site site;
};

/// No two of them may have a byte in common (MPI-5.0 section 3.7.2: a buffer is not touched while MPI has
/// it). Any thread of the rank.
class BuffersInUse {
 public:
  /// Keeps the address of `use`, until remove(), if no other one has a byte of it; otherwise that one.
  std::optional<BufferInUse> add(const BufferInUse& use) {
    const datatype::Reach reach = datatype::reach_of(use.data);
    if (reach.begin == reach.end) return {};
    const std::lock_guard lock(mutex_);
    // None that begins earlier than this reaches as far as here.
    const std::intptr_t earliest = reach.begin - longest_;
    auto at = uses_.lower_bound(reach.end);
    for (int i = 0; i < kMostCompared && at != uses_.begin() && (--at)->first >= earliest; ++i)
      if (datatype::overlap(at->second->data, use.data)) return *at->second;
    uses_.emplace(reach.begin, &use);
    longest_ = std::max(longest_, reach.end - reach.begin);
    return {};
  }
  /// Whether it was added or not.
  void remove(const BufferInUse& use) {
    const std::lock_guard lock(mutex_);
    auto [at, end] = uses_.equal_range(datatype::reach_of(use.data).begin);
    for (; at != end; ++at)
      if (at->second == &use) return static_cast<void>(uses_.erase(at));
  }

 private:
  /// Columns of a matrix lie between each other: of many, the nearest are compared.
  static constexpr int kMostCompared = 64;

  std::mutex mutex_;
  std::multimap<std::intptr_t, const BufferInUse*> uses_;  // by where they begin
  std::intptr_t longest_ = 0;
};

}  // namespace clump::core
