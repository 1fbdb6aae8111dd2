// Which processes cannot be reached, or not any more, by a provider over sockets: the provider makes
// connections again and again, and the kernel sends what is not acknowledged for a quarter of an hour.
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

/// One endpoint context's peers. Not safe for threads: the endpoint context's lock is held.
class PeerWatch {
 public:
  using Clock = std::chrono::steady_clock;
  /// How often it should look.
  static constexpr std::chrono::seconds kInterval{1};

  /// `own` is the name of the endpoint context's endpoint.
  PeerWatch(InternetAddress own, std::chrono::seconds patience) : own_(own), patience_(patience) {}

  /// Something is to be sent to a process.
  void add(int process, const InternetAddress& address);
  /// Something waits to be sent to a process, to which so many messages have gone. The reason, if there is no
  /// way to it.
  std::optional<std::string> waits(int process, std::uint32_t sent, Clock::time_point now);
  struct Silent {
    int process;  ///< of that host
    std::string why;
  };
  /// A host that acknowledges nothing.
  std::optional<Silent> silent_host();

 private:
  struct Peer {
    InternetAddress address;
    std::uint32_t sent = 0;     // when it was looked at
    Clock::time_point since{};  // as long has nothing been sent, or is there a way to it
    int failures = 0;
    std::unique_ptr<Probe> probe;
  };
  struct Connection {
    int descriptor;
    int process;
  };

  void find_connections();
  /// The process at the other end, or one of its host; none if it is no connection of this endpoint
  /// context's.
  std::optional<int> process_at(int descriptor) const;
  std::string tell(const Peer& peer, const std::string& error) const;

  const InternetAddress own_;
  const std::chrono::seconds patience_;
  std::map<int, Peer> peers_;
  std::vector<Connection> connections_;
  int looks_ = 0;
};

}  // namespace clump::net::ofi
