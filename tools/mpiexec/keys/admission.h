// mpiexec's door for proxies that a launcher without a stream has started: it listens until all have come. A
// connection is admitted when the other side has proved to know the job's key (handshake.h). Others cost a
// descriptor and 200 bytes until they are dropped: there are no more than kMostWaiting of them, or two for
// each host that is to come, for kPatience each.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "common/poll_set.h"
#include "keys/handshake.h"
#include "keys/invitation.h"

namespace clump::mpiexec {

/// A proxy that has proved to belong to the job.
struct Guest {
  std::uint32_t host = 0;
  int socket = -1;  ///< the receiver's
  Seal seal;
};

/// Of mpiexec's only thread; nothing blocks.
class Admission {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMostWaiting = 128;
  static constexpr std::chrono::seconds kPatience{10};

  /// `patience`: a test has less.
  explicit Admission(Clock::duration patience = kPatience) : patience_(patience), key_(Key::draw()) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;
  ~Admission() { close(); }

  /// Listens at these numeric addresses, for one proxy of each of these hosts.
  base::Status open(std::vector<std::string> addresses, std::vector<std::uint32_t> hosts);
  bool is_open() const { return !listeners_.empty(); }
  const Key& key() const { return key_; }
  /// The addresses at which it does listen.
  const Invitation& invitation() const { return invitation_; }

  std::vector<int> descriptors() const;
  void add_to(tools::PollSet& all) const;
  /// Moves what can be moved now. The next proxy that is admitted, if there is one now. When the last has
  /// come, nothing listens any more.
  std::optional<Guest> next();
  std::size_t waiting() const { return waiting_.size(); }
  /// Nothing more is admitted.
  void close();

 private:
  struct Stranger {
    int socket = -1;
    Clock::time_point since;
    Handshake handshake;
  };
  void accept();
  void drop_oldest();

  const Clock::duration patience_;
  Key key_;
  Invitation invitation_;
  std::vector<int> listeners_;
  std::vector<std::uint32_t> expected_;
  std::deque<Stranger> waiting_;  ///< the oldest first
  Clock::time_point no_accept_until_{};
};

}  // namespace clump::mpiexec
