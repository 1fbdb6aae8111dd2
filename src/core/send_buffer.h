// The memory for the messages of buffered sends (MPI-5.0 section 3.6), as a communicator, a session or a rank
// holds it. Its contents, and how messages get in and out, belong to src/p2p.
#pragma once

#include <mutex>
#include <utility>

#include "base/mutex.h"
#include "base/ref.h"

namespace clump::core {

/// A buffer. It lives until it was detached, or its object has ended, and its last message has left.
class SendBuffer : public base::RefCounted {};

/// The place in an object where a user attaches a buffer. Any thread of the rank.
class SendBufferSlot {
 public:
  /// The attached buffer; null if there is none.
  base::Ref<SendBuffer> get() const {
    const std::lock_guard lock(mutex_);
    return buffer_;
  }
  /// Attaches a buffer; false if one is attached already.
  bool attach(base::Ref<SendBuffer> buffer) {
    const std::lock_guard lock(mutex_);
    if (buffer_) return false;
    buffer_ = std::move(buffer);
    return true;
  }
  /// Detaches the buffer and returns it; null if there was none.
  base::Ref<SendBuffer> detach() {
    const std::lock_guard lock(mutex_);
    return std::exchange(buffer_, {});
  }

 private:
  mutable base::ShortMutex mutex_;
  base::Ref<SendBuffer> buffer_;
};

}  // namespace clump::core
