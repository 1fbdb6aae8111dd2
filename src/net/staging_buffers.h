// Staging (bounce) buffers: messages of 512 bytes to 32 KB travel in them from one core to another, in this
// process or to another process.
//
//   sender: copies in --> buffer --> receiver: copies out, and owns the buffer from then on
//
// A staging buffer has one owning worker. Sending it transfers the ownership: the receiver copies out, keeps
// the buffer and uses it for its next send, because the buffer's lines are now in the cache of its core.
// Writing lines that another core has read last takes several times as long. So two copies through a staging
// buffer take less time than one copy from user buffer to user buffer, if messages go both ways. A worker
// that only sends runs out of buffers: when it has fewer than half of them, it asks the receiver for one back
// (BufferCreditNote).
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "base/mutex.h"
#include "base/types.h"

namespace clump::net {

/// The least bytes of a message in a staging buffer: a shorter one is faster in a lane.
inline constexpr Count kLeastStaged = 512;

/// The empty staging buffers that a worker owns, also those that came from other workers. Any thread.
class StagingBuffers {
 public:
  static constexpr std::uint32_t kOfWorker = 64;  ///< at the start: enough for a window of as many messages
  /// Worker w has the buffers from w * kOfWorker on.
  explicit StagingBuffers(int worker) {
    for (std::uint32_t i = 0; i < kOfWorker; ++i)
      empty_.push_back(static_cast<std::uint32_t>(worker) * kOfWorker + i);
  }

  /// Takes the buffer that came last.
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
  /// Adds a buffer that has come, and takes the one that has been here longest.
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
