// The one stream between mpiexec and the proxy of a host: the standard input and output of the launcher (ssh)
// that has started the proxy, or a connection that the two have proved to be theirs (keys/). It carries
// frames of several channels, which channels.h moves. Control messages and credits go ahead of data that
// waits.
//
//   proxy: "clump-proxy VERSION PATH\n", then frames; what start files of shells have written is before it
//   frame: host, channel, kind, length, bytes, '\n'
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/poll_set.h"
#include "keys/seal.h"

namespace clump::mpiexec {

/// What the frames of a host are for.
enum class Channel : std::uint8_t {
  kControl,  ///< whole messages (hang/control_messages.h); has no window
  kInput,    ///< standard input
  kOutput,   ///< stdout of the ranks
  kErrors,   ///< stderr of the ranks, and of their proxy
  kRecords,  ///< of calls (record_collector.h)
  kGdb,      ///< between gdb and gdbserver (gdb_hosts.h)
};
inline constexpr int kChannels = 6;

/// Both sides send kPing so often, unless they stand still.
inline constexpr std::chrono::seconds kPingEvery{1};

struct Frame {
  enum class Kind : std::uint8_t {
    kData,
    kCredit,  ///< so many bytes more may be sent (4 bytes)
    kClose,   ///< the sender is done with the channel, in both directions
    kPing,    ///< the sender is there
    kPause,   ///< the sender will be silent until it sends something else
    // On Channel::kControl, between a proxy that starts proxies and mpiexec (branches.h).
    kLaunch,    ///< to that proxy: these hosts are below it
    kGreeting,  ///< of a host below it: version and path
    kLost,      ///< a host below it sends no more: why
  };
  std::uint32_t host = 0;
  Channel channel = Channel::kControl;
  Kind kind = Kind::kData;
  std::string_view bytes;
};

/// Owned by one thread; nothing blocks. SIGPIPE has to be blocked there.
class FrameStream {
 public:
  using Clock = std::chrono::steady_clock;

  FrameStream() = default;
  FrameStream(const FrameStream&) = delete;
  FrameStream& operator=(const FrameStream&) = delete;
  ~FrameStream() { close(); }

  /// Closes the two descriptors in the end, and makes them non-blocking; they may be one socket.
  void open(int in, int out);
  /// Before anything is sent: all bytes go sealed, in both directions, for a stream that no launcher
  /// protects.
  void protect(Seal seal) { seal_.emplace(std::move(seal)); }
  /// The proxy's first words.
  void greet(std::string_view version, std::string_view path);
  /// mpiexec's side: frames come behind a greeting. What is before it is noise.
  void expect_greeting() { is_greeted_ = false; }
  bool is_greeted() const { return is_greeted_; }
  const std::string& version() const { return version_; }
  const std::string& path() const { return path_; }
  /// What has come before the greeting: the end of it.
  const std::string& noise() const { return noise_; }

  /// Control messages, credits and pings overtake data and the ends of channels and hosts, which keep their
  /// order.
  void send(const Frame& frame);
  /// Nothing waits to be written: data may be added.
  bool has_room() const { return !has_ended() && is_idle(); }
  bool is_idle() const { return written_ == out_.size() && urgent_.empty() && data_.empty(); }

  /// Sends kPing if it is time to, from this host, and counts how long nothing has come. Time in which this
  /// process did not run is not counted.
  void keep_alive(std::uint32_t host);
  Clock::duration silence() const { return silence_; }
  /// The other side has said that it will be silent, or is not there yet.
  void excuse_silence() { silence_ = {}; }

  void add_to(tools::PollSet& all) const;
  /// Moves what can be moved now.
  void transfer();
  /// Writes only.
  void flush();
  /// The next frame that has come as a whole; false: there is none now. Its bytes stay until the next call of
  /// transfer(). Bytes that are no frame end the stream.
  bool receive(Frame& frame);
  /// The other side has gone; receive() may still have some frames.
  bool has_ended() const { return in_ < 0; }
  /// Bytes came that were no frame, or are not of the other side (protect()).
  bool is_damaged() const { return is_damaged_; }
  void close();
  /// For processes that shall not have them.
  int in() const { return in_; }
  int out() const { return out_descriptor_; }

 private:
  void read();
  void look_for_greeting();

  int in_ = -1, out_descriptor_ = -1;
  bool is_greeted_ = true, is_damaged_ = false;
  std::string version_, path_, noise_;
  std::string came_;  ///< and is not taken yet, from at_ on
  std::size_t at_ = 0;
  std::string out_;  ///< is being written: so much of it is
  std::size_t written_ = 0;
  Clock::time_point next_ping_{}, last_look_{};
  Clock::duration silence_{0};
  std::optional<Seal> seal_;
  std::string sealed_;            ///< has come, and is no whole record yet
  std::string urgent_;            ///< whole frames
  std::deque<std::string> data_;  ///< the same, one each
};

}  // namespace clump::mpiexec
