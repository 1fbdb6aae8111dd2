// The channels of one host, at one end of a stream (frame_stream.h): moves bytes between the stream and a
// descriptor for each channel. A window limits what is on the way: the receiver returns credits for what its
// descriptor has taken, so a rank that does not read its input, or a terminal that stands still, holds up its
// channel only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cluster/frame_stream.h"
#include "common/poll_set.h"

namespace clump::mpiexec {

/// Owned by one thread; nothing blocks. Channel::kControl is none of them: it has whole messages.
class Channels {
 public:
  /// So many bytes of a channel may be sent before credits come.
  static constexpr std::size_t kWindow = 256 << 10;
  /// Of a frame: a control message waits for no more.
  static constexpr std::size_t kPiece = 16 << 10;

  Channels(std::uint32_t host, FrameStream& stream) : host_(host), stream_(stream) {}
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;
  ~Channels();

  /// What is read from and written to the other end of a channel here; it is the caller's, and blocks.
  base::Status open(Channel channel, int& end);
  /// The same for a descriptor that there is, which becomes this object's.
  void attach(Channel channel, int descriptor);
  /// Closes the channel, if there is one, and tells the other side.
  void close(Channel channel);
  std::vector<int> descriptors() const;

  void add_to(tools::PollSet& all) const;
  void transfer();
  /// A frame of this host has come. False if the other side breaks the rules.
  bool take(const Frame& frame);
  /// The descriptors have all that they will ever have: what is in one is its end.
  void expect_no_more() { expects_no_more_ = true; }

  // Channels without a descriptor: what has come stays here until it is taken.
  std::string_view waiting(Channel channel) const { return at(channel).came; }
  void note_taken(Channel channel, std::size_t bytes);
  /// The other side has closed the channel, and all that has come is taken.
  bool has_ended(Channel channel) const { return at(channel).ended_there && at(channel).came.empty(); }
  /// The other side has closed the channel: no more comes.
  bool has_ended_there(Channel channel) const { return at(channel).ended_there; }
  /// This side has, and has sent it all.
  bool is_closed(Channel channel) const { return at(channel).ended_here; }

 private:
  struct End {
    int descriptor = -1;
    std::string came;              ///< and is not written to the descriptor yet
    std::size_t taken = 0;         ///< by the descriptor; the sender has no credit for it yet
    std::size_t credit = kWindow;  ///< so much may be sent
    bool ended_there = false, ended_here = false;
  };
  End& at(Channel channel) { return ends_[static_cast<std::size_t>(channel)]; }
  const End& at(Channel channel) const { return ends_[static_cast<std::size_t>(channel)]; }
  void write(Channel channel);
  /// Once. False: there is nothing now.
  bool read(Channel channel);

  const std::uint32_t host_;
  FrameStream& stream_;
  std::array<End, kChannels> ends_;
  int next_ = 0;  ///< the channel that is read from first: each in turn
  bool expects_no_more_ = false;
};

}  // namespace clump::mpiexec
