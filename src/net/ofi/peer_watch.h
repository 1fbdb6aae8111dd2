// Finds processes that cannot be reached, or not any more, by a provider over sockets. The provider itself
// tries to connect again and again, and the kernel sends data that are not acknowledged for a quarter of an
// hour.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/ofi/internet.h"
#include "net/ofi/probe.h"

namespace clump::net::ofi {

/// Watches the peers of one endpoint context. Not thread-safe: the endpoint context's lock is held.
class PeerWatch {
 public:
  using Clock = std::chrono::steady_clock;
  /// How often it is to look.
  static constexpr std::chrono::seconds kInterval{1};

  /// `own` is the name of the endpoint context's endpoint.
  PeerWatch(InternetAddress own, std::chrono::seconds patience) : own_(own), patience_(patience) {}

  /// Called when something is sent to a process.
  void add(int process, const InternetAddress& address);
  /// Called when something waits to be sent to a process, which has been sent `sent` messages so far. Returns
  /// the reason, if the process cannot be reached.
  std::optional<std::string> waits(int process, std::uint32_t sent, Clock::time_point now);
  struct Silent {
    int process;  ///< a process on that host
    std::string why;
  };
  /// A host that answers nothing; none if all do. Cuts connections that strangers have made, too. The
  /// provider does nothing meanwhile: the endpoint context's lock is held, and it has no thread of its own.
  std::optional<Silent> silent_host(Clock::time_point now);

 private:
  struct Peer {
    InternetAddress address;
    std::uint32_t sent = 0;     // as it was when it was looked at
    Clock::time_point since{};  // since when nothing has been sent, or since when there is a way to it
    int failures = 0;
    std::unique_ptr<Probe> probe;
  };
  struct Connection {
    int descriptor;
    int process;
  };

  /// Of the job's processes. Those over which nothing comes from the start are cut.
  void find_connections();
  /// The process at the other end, or one on the same host; none if the connection is not one of this
  /// endpoint context.
  std::optional<int> process_at(int descriptor) const;
  std::string tell(const Peer& peer, const std::string& error) const;
  bool is_silent(int descriptor, Clock::time_point now);

  const InternetAddress own_;
  const std::chrono::seconds patience_;
  std::map<int, Peer> peers_;
  std::vector<Connection> connections_;
  std::map<int, Clock::time_point> unanswered_;  // by descriptor: since when it is seen so
  int looks_ = 0;
};

}  // namespace clump::net::ofi
