// A proxy's end of the stream to mpiexec (frame_stream.h): a thread, so that output and control messages pass
// while the proxy is busy. The stream is the proxy's standard input and output, or the connection that it has
// made. Its standard descriptors become the ranks' from then on: what is written to 1 and 2 goes to
// mpiexec's.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "cluster/branches.h"
#include "cluster/channels.h"
#include "cluster/connection.h"
#include "cluster/frame_stream.h"
#include "keys/join.h"

namespace clump::mpiexec {

/// Of the proxy's only other thread. When the stream ends, so do the connections that this object hands out.
class ProxyRelay {
 public:
  /// The host's number in the job.
  explicit ProxyRelay(std::uint32_t host) : host_(host), channels_(host, stream_) {}
  ProxyRelay(const ProxyRelay&) = delete;
  ProxyRelay& operator=(const ProxyRelay&) = delete;
  ~ProxyRelay();

  /// Takes over the descriptors 0, 1 and 2, and greets. `connection`: to mpiexec, if those are not the
  /// stream.
  base::Status start(std::optional<Joined> connection);
  /// Messages from and to mpiexec. Once.
  Connection control();
  /// The proxy's end of a channel, a socket. Once.
  int end_of(Channel channel) { return ends_[static_cast<std::size_t>(channel)]; }
  /// Those that processes of ranks, and their supervisor, shall not have.
  std::vector<int> own();
  /// All of the host is over, and told on the control connection, which is closed: returns when mpiexec has
  /// all output, or has gone.
  void finish();

 private:
  /// A mpiexec that says nothing for so long has gone, with its host or the network.
  static constexpr std::chrono::seconds kPatience{60};

  base::Status take_descriptors(std::optional<Joined> connection);
  void run();
  /// False: mpiexec has gone.
  bool take_frames();
  bool take(const Frame& frame);
  bool is_done();
  void complain(const std::string& why) const;
  bool has_patience();

  const std::uint32_t host_;
  FrameStream stream_;
  Channels channels_;
  Connection control_, theirs_;
  int ends_[kChannels] = {-1, -1, -1, -1, -1, -1};
  Branches branches_;  ///< the proxies that this one has started
  std::mutex mutex_;   ///< of own_
  std::vector<int> own_;
  int finish_event_ = -1;
  int errors_ = -1;  ///< the launcher's standard error
  std::atomic<bool> is_finishing_{false};
  bool is_paused_ = false;
  std::thread thread_;
};

}  // namespace clump::mpiexec
