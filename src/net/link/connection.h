// One connection to a process of another job: a stream socket, what waits to be written to it, and what has
// been read of the frame that comes.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "net/channel.h"
#include "net/link/wire.h"

namespace clump::net::link {

/// Bytes to be written, in order.
class PendingFrame {
 public:
  /// A frame with bytes behind it, which are copied.
  static PendingFrame copied(const Frame& frame, const datatype::Layout& payload, Count bytes);
  /// What a kCts asks for of a message, in kData frames. The message is released after the last one.
  static PendingFrame streamed(SendRequest& message, const Frame& asked);

  /// Writes what the socket takes. 1: all is written; 0: the rest has to wait; -1: the connection is gone.
  int write(int socket);
  /// Whether it is the announcement of this message, and nothing of it is written.
  bool announces(const SendRequest& message) const { return written_ == 0 && announced_ == &message; }
  void set_announced(const SendRequest& message) { announced_ = &message; }
  /// How much memory it takes, if it is a copy.
  std::size_t held() const { return held_; }
  /// The number of the message that is the sender's again once this is written, or never will be; 0: none.
  std::uint64_t message() const { return number_; }

 private:
  void next_piece();

  std::vector<std::byte> bytes_;
  std::size_t written_ = 0, held_ = 0;
  const SendRequest* announced_ = nullptr;
  SendRequest* message_ = nullptr;  // kData
  std::uint64_t number_ = 0, rendezvous_ = 0;
  Count sent_ = 0, wanted_ = 0;
};

/// What comes in over one socket, as frames. Only the link's thread uses it.
class Incoming {
 public:
  /// Takes frames with their bytes.
  class Taker {
   public:
    /// The frame is there, without what follows it. False: it is wrong, and the connection is to be closed.
    virtual bool may_begin(const Frame& frame) = 0;
    /// All of a frame but kData is there. False: the connection is to be closed.
    virtual bool take(const Frame& frame, std::span<const std::byte> bytes) = 0;
    /// Where the next bytes of a kData frame go if they can be read right there; null: take_data().
    virtual std::span<std::byte> place_for(const Frame& frame) = 0;
    /// More bytes of a kData frame: those that were read in place if `bytes` has no address. False: nothing
    /// takes them, and the connection is to be closed.
    virtual bool take_data(const Frame& frame, std::span<const std::byte> bytes, std::size_t in_place) = 0;

   protected:
    ~Taker() = default;
  };
  /// The longest that may follow a frame other than kData.
  static constexpr Count kMost = 256 * 1024;

  /// Reads what is there, up to a few times what `buffer` takes. False: the other side has closed it, or
  /// broken the protocol.
  bool read(int socket, std::span<std::byte> buffer, Taker& taker);

 private:
  bool consume(std::span<const std::byte> bytes, Taker& taker);
  bool begin_frame(Taker& taker);

  Frame frame_;
  std::size_t frame_bytes_ = 0;  // of the frame that are there
  std::vector<std::byte> body_;  // what is there of what follows it
  Count left_ = 0;               // what is missing of that
};

}  // namespace clump::net::link
