// Memory for the messages of buffered sends (MPI-5.0 section 3.6), as a communicator, a session or a rank
// holds it. What it is, and how messages get in and out, belongs to src/p2p.
#pragma once

#include <mutex>
#include <utility>

#include "base/mutex.h"
#include "base/ref.h"

namespace clump::core {

/// Stays until it was detached, or what it was attached to is gone, and its last message has left.
class SendBuffer : public base::RefCounted {};

/// Where a user attaches one. Any thread of the rank.
class SendBufferSlot {
 public:
  /// Null if none is attached.
  base::Ref<SendBuffer> get() const {
    const std::lock_guard lock(mutex_);
    return buffer_;
  }
  /// False if one is attached already.
  bool attach(base::Ref<SendBuffer> buffer) {
    const std::lock_guard lock(mutex_);
    if (buffer_) return false;
    buffer_ = std::move(buffer);
    return true;
  }
  /// Null if none was attached.
  base::Ref<SendBuffer> detach() {
    const std::lock_guard lock(mutex_);
    return std::exchange(buffer_, {});
  }

 private:
  mutable base::ShortMutex mutex_;
  base::Ref<SendBuffer> buffer_;
};

}  // namespace clump::core
