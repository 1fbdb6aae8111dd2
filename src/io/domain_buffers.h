// Memory for the file domains of collective accesses to one file (round.h, exchange.h). It is kept from one
// domain to the next, because fresh memory costs a page fault for each page.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/types.h"

namespace clump::io {

/// The buffers that no file domain uses. Accesses that are under way at the same time may have domains of
/// different sizes, because MPI_File_set_info changes cb_buffer_size in between. Any thread.
class DomainBuffers {
 public:
  struct Buffer {
    std::unique_ptr<std::byte[]> bytes;
    Count size = 0;
  };

  /// A buffer of `size` bytes, for the caller alone. Its bytes have no defined values.
  Buffer take(Count size) {
    {
      const std::lock_guard lock(mutex_);
      if (size != size_) unused_.clear();
      size_ = size;
      if (!unused_.empty()) {
        Buffer buffer = std::move(unused_.back());
        unused_.pop_back();
        return buffer;
      }
    }
    return {std::unique_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(size)]), size};
  }

  /// Keeps the buffer for the next take(), if it has the size that was asked for last.
  void give_back(Buffer buffer) {
    constexpr std::size_t kMostKept = 8;
    const std::lock_guard lock(mutex_);
    if (buffer.size == size_ && unused_.size() < kMostKept) unused_.push_back(std::move(buffer));
  }

 private:
  std::mutex mutex_;            // guards what follows
  std::vector<Buffer> unused_;  // all of size_ bytes
  Count size_ = 0;
};

}  // namespace clump::io
