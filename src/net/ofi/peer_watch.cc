#include "net/ofi/peer_watch.h"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

#include <algorithm>

#include "net/ofi/descriptors.h"
#include "net/ofi/strangers.h"

namespace clump::net::ofi {

namespace {

// A connection may be refused for a moment, while the other process opens its endpoint.
constexpr int kMostFailures = 3;
// The host of a process that has died refuses connections to it, too. mpiexec usually knows of the death
// before, and of a silent host after 6 s; it reports the cause and ends this process.
constexpr int kMostRefusals = 8;
// All descriptors are searched once in so many looks, because connections come and go.
constexpr int kLooksBetweenSearches = 5;

/// How long nothing has come over the connection, if the last that was sent has no answer: data that are sent
/// again, or, where this host's own kernel lets nothing out or the peer has no room, probes while data wait.
std::optional<std::chrono::milliseconds> unanswered_for(int descriptor) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {};
  int unsent = 0;
  const bool is_unanswered =
      info.tcpi_unacked > 0
          ? info.tcpi_retransmits > 0
          : info.tcpi_probes > 0 && ::ioctl(descriptor, SIOCOUTQNSD, &unsent) == 0 && unsent > 0;
  if (!is_unanswered) return {};
  return std::chrono::milliseconds(std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv));
}

}  // namespace

void PeerWatch::add(int process, const InternetAddress& address) {
  if (address.valid()) peers_.try_emplace(process, Peer{.address = address, .probe = nullptr});
  looks_ = 0;
}

std::string PeerWatch::tell(const Peer& peer, const std::string& error) const {
  return fmt::format(
      "no TCP connection from {} to {}: {}. Firewalls have to let the job's hosts connect to each other, on "
      "the ports of net.ipv4.ip_local_port_range; CLUMP_CONNECT_TIMEOUT={} is how many seconds to try",
      own_.text(), peer.address.text(), error, patience_.count());
}

std::optional<std::string> PeerWatch::waits(int process, std::uint32_t sent, Clock::time_point now) {
  const auto found = peers_.find(process);
  if (found == peers_.end()) return {};
  Peer& peer = found->second;
  if (peer.since == Clock::time_point() || peer.sent != sent) {
    peer = {.address = peer.address, .sent = sent, .since = now, .probe = nullptr};
    return {};
  }
  if (peer.probe == nullptr) peer.probe = std::make_unique<Probe>(peer.address);
  switch (peer.probe->look()) {
    case Probe::Answer::kNone:
      if (now - peer.since < patience_) return {};
      return tell(peer, fmt::format("no answer within {} s", patience_.count()));
    case Probe::Answer::kReached:  // there is a way to it, but it does not take anything now
      peer = {.address = peer.address, .sent = sent, .since = now, .probe = nullptr};
      return {};
    case Probe::Answer::kFailed:
      if (++peer.failures >= (peer.probe->is_refused() ? kMostRefusals : kMostFailures))
        return tell(peer, peer.probe->error());
      peer.probe = nullptr;
      return {};
  }
  return {};
}

std::optional<int> PeerWatch::process_at(int descriptor) const {
  const InternetAddress other = InternetAddress::of_peer(descriptor);
  if (!other.valid()) return {};
  const bool accepted = InternetAddress::of_self(descriptor) == own_;
  for (const auto& [process, peer] : peers_)
    if (accepted ? peer.address.is_same_host(other) : peer.address == other) return process;
  return {};
}

void PeerWatch::find_connections() {
  connections_.clear();
  each_stream_socket([this](int descriptor) {
    cut_if_silent(descriptor, own_);
    if (const std::optional<int> process = process_at(descriptor))
      connections_.push_back({descriptor, *process});
  });
}

/// A probe, or a packet that was lost after a long rest, has no answer for a moment: it does not count before
/// it has had none for as long as the patience.
bool PeerWatch::is_silent(int descriptor, Clock::time_point now) {
  const auto quiet = unanswered_for(descriptor);
  if (!quiet) return unanswered_.erase(descriptor), false;
  Clock::time_point& since = unanswered_.try_emplace(descriptor, now).first->second;
  if (*quiet < now - since) since = now;  // something has come meanwhile
  return now - since >= patience_;
}

std::optional<PeerWatch::Silent> PeerWatch::silent_host(Clock::time_point now) {
  if (looks_++ % kLooksBetweenSearches == 0) find_connections();
  for (const Connection& connection : connections_) {
    // The descriptor may belong to another file by now.
    if (!is_silent(connection.descriptor, now) || process_at(connection.descriptor) != connection.process)
      continue;
    return Silent{
        connection.process,
        fmt::format("what was sent from {} to {} has not been acknowledged for {} s "
                    "(CLUMP_CONNECT_TIMEOUT)",
                    own_.text(), InternetAddress::of_peer(connection.descriptor).text(), patience_.count())};
  }
  return {};
}

}  // namespace clump::net::ofi
