// Blocks of the node's memory in which longer messages travel from one process to another.
//
// A crate belongs to one port at a time. Who sends fills it, who receives empties it, and it is his from then
// on: he sends with it next, because its lines are in his core's cache, and to write lines that another core
// was the last to read takes several times as long. Where messages go one way only, the sender asks for
// others back before he runs out of them.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "base/mutex.h"
#include "net/shm/segment.h"

namespace clump::net {

/// Those of a port. Any thread.
class Crates {
 public:
  explicit Crates(int port) {
    for (std::uint32_t i = 0; i < Segment::kCratesOfPort; ++i)
      empty_.push_back(static_cast<std::uint32_t>(port) * Segment::kCratesOfPort + i);
  }

  /// The one that came last.
  std::optional<std::uint32_t> take() {
    const std::lock_guard lock(mutex_);
    if (empty_.empty()) return {};
    const std::uint32_t crate = empty_.back();
    empty_.pop_back();
    return crate;
  }
  void put(std::uint32_t crate) {
    const std::lock_guard lock(mutex_);
    empty_.push_back(crate);
  }
  /// For one that came, one that has long been here.
  std::uint32_t exchange(std::uint32_t crate) {
    const std::lock_guard lock(mutex_);
    empty_.push_back(crate);
    const std::uint32_t oldest = empty_.front();
    empty_.pop_front();
    return oldest;
  }
  bool are_few() {
    const std::lock_guard lock(mutex_);
    return empty_.size() < Segment::kCratesOfPort / 2;
  }

 private:
  base::ShortMutex mutex_;
  std::deque<std::uint32_t> empty_;
};

}  // namespace clump::net
