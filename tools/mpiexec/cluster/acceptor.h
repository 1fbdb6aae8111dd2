// Accepts connections to mpiexec, and hands on those of the job's proxies. A connection that does not tell
// the job's secret in its first bytes is closed. What strangers can take is bounded: so many connections at a
// time, so long, and a few bytes of each.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/listener.h"
#include "common/poll_set.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread; nothing blocks.
class Acceptor {
 public:
  /// A connection that has told nothing for so long is closed.
  static constexpr std::chrono::seconds kPatience{10};

  /// For proxies of so many hosts.
  explicit Acceptor(std::size_t hosts) : hosts_(hosts) {}
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  ~Acceptor();

  /// Listens on these addresses, and sets the environment variable (listener.h).
  base::Status open(const std::vector<std::string>& addresses) { return listener_.open(addresses); }
  const std::vector<int>& sockets() const { return listener_.sockets(); }
  void add_to(tools::PollSet& all) const;
  /// Accepts what has come, and calls admit(stream, host, socket) once for each stream of each host; the
  /// socket is the callee's. To be called once in kPatience at least.
  void accept(const std::function<void(Stream, std::size_t, int)>& admit);

 private:
  using Clock = std::chrono::steady_clock;
  /// It has not told the secret yet.
  struct Unknown {
    int socket;
    Clock::time_point since;
    std::string told;
  };
  enum class Verdict { kWaits, kIsProxy, kIsStranger };

  /// How many connections may be unknown at a time. The oldest ones give way to new ones, so that strangers
  /// do not keep a proxy out.
  std::size_t most_unknown() const { return 2 * hosts_ + 64; }
  void accept_from(int listening);
  Verdict read(Unknown& unknown, Hello& hello) const;

  const std::size_t hosts_;
  Listener listener_;
  std::deque<Unknown> unknown_;  // in the order in which they came
  std::set<std::pair<Stream, std::int32_t>> admitted_;
};

}  // namespace clump::mpiexec
