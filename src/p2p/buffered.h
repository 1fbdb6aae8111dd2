// Buffered sends (MPI-5.0 section 3.6): the message waits in memory that the user has attached, or, with
// MPI_BUFFER_AUTOMATIC, in memory that is allocated for it.
//
// Only a message that cannot be taken at once is copied into the buffer: a short message to a rank that has
// room for it is not. A buffer has to be attached in both cases, as the standard requires.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "core/send_buffer.h"
#include "core/site.h"
#include "p2p/p2p.h"

namespace clump::p2p {

class Flush;

/// The memory of MPI_Buffer_attach and its family. Any thread.
class AttachedBuffer final : public core::SendBuffer {
 public:
  /// `size` is not used if `memory` is MPI_BUFFER_AUTOMATIC.
  AttachedBuffer(void* memory, Count size) : memory_(static_cast<std::byte*>(memory)), size_(size) {}

  /// From here on messages are kept outside of the user's memory, and look() detects whether the program
  /// writes into that memory; what it writes there does not get into messages (mpiexec --check). `site` is
  /// the call that attaches it. Before send().
  void watch(const core::Site& site) {
    is_watched_ = true;
    site_ = site;
  }
  bool is_watched() const { return is_watched_; }
  const core::Site& site() const { return site_; }
  /// Notes what is in the user's memory. Called when a message is sent by way of the buffer.
  void note_contents();
  /// MPI_ERR_BUFFER if the program has written into the memory after the first message that followed the last
  /// look().
  base::Status look(const core::World& world);

  void* memory() const { return memory_; }
  Count size() const { return is_automatic() ? 0 : size_; }

  /// Copies the message into the buffer and starts it; MPI_ERR_BUFFER when there is no room for it.
  base::Status send(const Address& to, const datatype::Layout& from);
  /// From here on send() fails.
  void close();

 private:
  friend class Flush;

  /// A message in the buffer. It belongs to the channel until it is released.
  struct Message final : net::SendRequest {
    Message(AttachedBuffer& owner, Count room, std::uint64_t number, net::Route route)
        : owner(&owner), room(room), number(number), route(route) {}
    void released() override;

    base::Ref<AttachedBuffer> owner;  // keeps the buffer alive: the user may have detached it
    const Count room;                 // bytes that it takes up
    const std::uint64_t number;       // in the order of sends
    const net::Route route;
  };
  using Messages = std::map<std::byte*, Message>;  // by their place

  bool is_automatic() const { return memory_ == MPI_BUFFER_AUTOMATIC; }
  /// Whether memory is allocated for each message.
  bool allocates() const { return is_automatic() || is_watched_; }
  base::Status allocate(Count room, Count bytes, std::byte*& place) const;
  Count used() const;
  datatype::Layout whole() const { return {memory_, size_, datatype::predefined(MPI_BYTE)}; }
  base::Status reserve(Count bytes, net::Route route, Messages::value_type*& message);
  base::Status no_room(Count bytes) const;
  void free(const Message& message);

  std::byte* const memory_;
  const Count size_;
  std::mutex mutex_;
  bool closed_ = false;
  bool is_watched_ = false, has_fingerprint_ = false;
  std::uint64_t fingerprint_ = 0;
  core::Site site_;
  std::uint64_t next_number_ = 0;
  Messages messages_;
  std::vector<Flush*> flushes_;  // the flushes that are not complete
};

/// The request of MPI_Buffer_iflush and its family: complete when all messages that were in the buffer when
/// it began have left. The blocking calls, and detaching, wait for a Flush on their stack.
class Flush final : public core::Request {
 public:
  /// `buffer` is null if none is attached: then there is nothing to wait for.
  void begin(base::Ref<AttachedBuffer> buffer);
  void before_wait(WaitsFor what) override;
  void tell(std::vector<core::Awaited>& all) const override;

 private:
  friend class AttachedBuffer;
  base::Ref<AttachedBuffer> buffer_;
  std::uint64_t before_ = 0;   // it waits for the messages with smaller numbers
  std::size_t remaining_ = 0;  // how many of these have not left
};

/// MPI_Bsend: MPI_ERR_BUFFER when no buffer is attached to the communicator, its session or the rank.
base::Status buffered_send(const Address& to, const datatype::Layout& from);

}  // namespace clump::p2p
