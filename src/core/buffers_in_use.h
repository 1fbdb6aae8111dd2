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

/// A buffer that a call of the program has given to MPI. `type` lives at least as long as this.
struct BufferInUse {
  datatype::Layout data;
  Site site;
};

/// Finds buffers that have a byte in common, which MPI forbids (MPI-5.0 section 3.7.2: a buffer is not
/// touched while MPI has it). Any thread of the rank.
class BuffersInUse {
 public:
  /// Adds `use`, whose address is kept until remove(), and returns nothing; if another one has a byte of it,
  /// returns that one and adds nothing.
  std::optional<BufferInUse> add(const BufferInUse& use) {
    const datatype::Reach reach = datatype::reach_of(use.data);
    if (reach.begin == reach.end) return {};
    const std::lock_guard lock(mutex_);
    // A buffer that begins earlier than this ends before `use` begins.
    const std::intptr_t earliest = reach.begin - longest_;
    auto at = uses_.lower_bound(reach.end);
    for (int i = 0; i < kMostCompared && at != uses_.begin() && (--at)->first >= earliest; ++i)
      if (datatype::overlap(at->second->data, use.data)) return *at->second;
    uses_.emplace(reach.begin, &use);
    longest_ = std::max(longest_, reach.end - reach.begin);
    return {};
  }
  /// Removes `use`. Does nothing if it was not added.
  void remove(const BufferInUse& use) {
    const std::lock_guard lock(mutex_);
    auto [at, end] = uses_.equal_range(datatype::reach_of(use.data).begin);
    for (; at != end; ++at)
      if (at->second == &use) return static_cast<void>(uses_.erase(at));
  }

 private:
  /// The most buffers that are compared with a new one, the nearest first. Columns of a matrix lie between
  /// each other, so many may have to be.
  static constexpr int kMostCompared = 64;

  std::mutex mutex_;
  std::multimap<std::intptr_t, const BufferInUse*> uses_;  // by their first byte
  std::intptr_t longest_ = 0;
};

}  // namespace clump::core
