// How two processes prove to each other, over a TCP connection, that both know the number and the token of
// the job that is called, without telling them. Each draws a nonce, and answers with a keyed hash
// (SipHash-2-4, 128 bits of key) of both nonces, its own role and the number of the process that is called.
//
//   the one that calls:    mark, nonce     24 bytes
//   the one that listens:  nonce, proof    32 bytes
//   the one that calls:    proof           16 bytes, then frames (wire.h)
//
// The one that listens proves itself first: what has taken the place of a process that has ended learns
// nothing by which it could call others.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "net/link/peer_name.h"

namespace clump::net::link {

enum class Side : std::uint64_t { kCalls = 1, kListens };

/// One side of one connection, without the connection. Of one thread.
class Proof {
 public:
  /// The longest that is sent or taken at a time.
  static constexpr std::size_t kMost = 32;

  /// `job` and `process`: those that are called.
  Proof(Side side, const JobName& job, int process);

  /// What is to be sent now. It stays until the next take().
  std::span<const std::byte> output() const { return std::span(output_).first(output_bytes_); }
  /// So many bytes are to come next, and no more are to be read from the connection; 0: it is done.
  std::size_t wanted() const { return wanted_; }
  /// Takes exactly those. False: the other side does not know the job, or speaks something else.
  bool take(std::span<const std::byte> bytes);

 private:
  using Number = std::array<std::uint64_t, 2>;
  Number proof_of(Side side) const;
  template <typename Message>
  void send(const Message& message);

  const Side side_;
  const JobName job_;
  const std::uint64_t process_;
  Number own_, other_{};
  std::array<std::byte, kMost> output_{};
  std::size_t output_bytes_ = 0, wanted_ = 0;
};

/// A TCP connection whose other side has not proved itself yet. Used by the link's thread only.
class Stranger {
 public:
  using Clock = std::chrono::steady_clock;
  /// So long it has, from connect() or accept() on.
  static constexpr std::chrono::seconds kPatience{10};
  /// So many that have called may be there at a time: the oldest makes room. As all ranks of other jobs that a
  /// process can know may call at once, no fewer than these.
  static constexpr std::size_t kMost = 256;

  Stranger(Side side, const JobName& job, int process) : proof_(side, job, process), side_(side) {}

  enum class State { kWaits, kIsKnown, kFails };
  /// Goes on with what the socket takes and has.
  State proceed(int socket);
  /// Whether it waits for room in the socket, or for being connected.
  bool writes() const { return sent_ < proof_.output().size(); }
  bool is_late() const { return Clock::now() >= limit_; }
  bool has_called() const { return side_ == Side::kListens; }
  /// Of kFails, in words.
  const std::string& why() const { return why_; }

 private:
  State fail(std::string why);
  /// False: not all could be sent; `state` says what follows.
  bool send_output(int socket, State& state);

  Proof proof_;
  const Side side_;
  const Clock::time_point limit_ = Clock::now() + kPatience;
  std::array<std::byte, Proof::kMost> came_{};
  std::size_t sent_ = 0, count_ = 0;
  std::string why_;
};

}  // namespace clump::net::link
