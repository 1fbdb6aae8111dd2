// Buffered sends (MPI-5.0 section 3.6): the message waits in memory that the user attached.
#pragma once

#include <map>
#include <mutex>

#include "core/rank.h"
#include "p2p/p2p.h"

namespace clump::p2p {

/// The buffer that MPI_Buffer_attach gave to a rank, and the messages that are still in it. Any thread of the
/// rank.
class SendBuffer final : public core::Rank::BufferedSends {
 public:
  SendBuffer(void* memory, Count size) : memory_(static_cast<std::byte*>(memory)), size_(size) {}
  ~SendBuffer() override { flush(); }

  void* memory() const { return memory_; }
  Count size() const { return size_; }

  /// Copies the message into the buffer and starts it; MPI_ERR_BUFFER when there is no room for it.
  base::Status send(const Address& to, const datatype::Layout& from);
  /// Blocks until all messages have left the buffer.
  void flush();

 private:
  class Message;
  base::Status reserve(Count bytes, Count& offset);
  void free(Count offset);

  std::byte* const memory_;
  const Count size_;
  std::mutex mutex_;
  std::map<Count, Count> used_;  // offset -> bytes, in the order of offsets
  fiber::Completion* emptied_ = nullptr;
};

/// MPI_Bsend: MPI_ERR_BUFFER when no buffer is attached.
base::Status buffered_send(const Address& to, const datatype::Layout& from);

}  // namespace clump::p2p
