// Staging (bounce) buffers: messages of 512 bytes to 128 KB travel in them from one core to another, in this
// process or to another one.
//
//   sender: copies in --> buffer --> receiver: copies out, and owns the buffer from then on
//
// A staging buffer has one owning worker. Sending it transfers the ownership: the receiver copies out, keeps
// the buffer and uses it for its next send, because the lines of the buffer are in the cache of its core. To
// write lines that another core was the last to read takes several times as long; so two copies through a
// staging buffer take less time than one copy from user buffer to user buffer where messages go both ways. A
// worker that only sends runs out of buffers, so it asks for one back when it has fewer than half of them
// (BufferCreditNote).
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "base/mutex.h"
#include "base/types.h"

namespace clump::net {

/// A message of so many bytes is still better off in a lane.
inline constexpr Count kLeastStaged = 512;

/// The empty ones of a worker; of any other, too, once they have come. Any thread.
class StagingBuffers {
 public:
  static constexpr std::uint32_t kOfWorker = 64;  ///< at the start; for windows of as many messages
  /// Of worker w those from w * kOfWorker on.
  explicit StagingBuffers(int worker) {
    for (std::uint32_t i = 0; i < kOfWorker; ++i)
      empty_.push_back(static_cast<std::uint32_t>(worker) * kOfWorker + i);
  }

  /// The one that came last.
  std::optional<std::uint32_t> take() {
    const std::lock_guard lock(mutex_);
    if (empty_.empty()) return {};
    const std::uint32_t staging_buffer = empty_.back();
    empty_.pop_back();
    return staging_buffer;
  }
  void put(std::uint32_t staging_buffer) {
    const std::lock_guard lock(mutex_);
    empty_.push_back(staging_buffer);
  }
  /// For one that came, one that has long been here.
  std::uint32_t exchange(std::uint32_t staging_buffer) {
    const std::lock_guard lock(mutex_);
    empty_.push_back(staging_buffer);
    const std::uint32_t oldest = empty_.front();
    empty_.pop_front();
    return oldest;
  }
  bool are_few() {
    const std::lock_guard lock(mutex_);
    return empty_.size() < kOfWorker / 2;
  }

 private:
  base::ShortMutex mutex_;
  std::deque<std::uint32_t> empty_;
};

}  // namespace clump::net
